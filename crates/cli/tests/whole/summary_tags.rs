//! The checks and groups of summaries depend on the system tags, as in k6, which finds both out from the tags of
//! samples.

use crate::support::brunt;

const SCRIPT: &str = "import { check, group } from 'k6';\n\
    export const options = { systemTags: TAGS };\n\
    export default function () {\n\
      check(1, { rooted: (x) => x });\n\
      group('g', () => check(1, { grouped: (x) => !x }));\n\
    }\n";

fn shown(tags: &str, flags: &str, more: &str) -> String {
    let script = SCRIPT.replace("TAGS", tags) + more;
    let told = brunt(&format!("run -q s.js {flags}")).file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    told.stdout
}

const TREE: &str = "export function handleSummary(data) {\n\
    const names = (g) => [g.checks.map((c) => c.name), g.groups.map((g) => [g.name, names(g)])];\n\
    return { stdout: JSON.stringify(names(data.root_group)) };\n}\n";

#[test]
fn without_the_tag_check_no_check_has_a_name_but_all_are_counted() {
    let text = shown("['url', 'group']", "", "");
    assert!(text.contains("checks_total.......: 2 "), "{text}");
    assert!(text.contains("50.00% 1 out of 2"), "{text}");
    assert!(!text.contains("rooted") && !text.contains("grouped"), "{text}");
    assert_eq!(shown("['url', 'group']", "", TREE), r#"[[],[["g",[[],[]]]]]"#);
    let text = shown("['url', 'group']", "--summary-mode full", "");
    assert!(text.contains("100.00% 1 out of 1"), "{text}");
}

#[test]
fn without_the_tag_group_there_are_no_groups_and_no_checks_in_them() {
    let text = shown("['url', 'check']", "", "");
    assert!(text.contains("✓ rooted") && text.contains("✗ grouped"), "{text}");
    assert_eq!(shown("['url', 'check']", "", TREE), "[[],[]]");
    assert_eq!(shown("['group', 'check']", "", TREE), r#"[["rooted"],[["g",[["grouped"],[]]]]]"#);
}

#[test]
fn groups_are_in_the_order_in_which_anything_happened_in_them() {
    let more = "export function setup() { check(1, { early: (x) => x }); }\n";
    let tree = shown("['group', 'check']", "", &format!("{more}{TREE}"));
    assert_eq!(tree, r#"[["rooted"],[["setup",[["early"],[]]],["g",[["grouped"],[]]]]]"#);
}

#[test]
fn thresholds_that_are_switched_off_leave_their_submetrics() {
    let script = "import { Counter } from 'k6/metrics';\nconst c = new Counter('my_c');\n\
        export const options = { thresholds: { 'my_c{k:1}': ['xx'], 'my_c{k:2}': ['count>0'], nope: ['x'] } };\n\
        export default function () { c.add(1, { k: '1' }); }\n";
    let told = brunt("run -q --no-thresholds s.js").file("s.js", script).told();
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains("{ k:1 }") && !told.stdout.contains("{ k:2 }"), "{told:?}");
    assert!(told.stderr.contains("level=warning") && told.stderr.contains("nope"), "{told:?}");
}
