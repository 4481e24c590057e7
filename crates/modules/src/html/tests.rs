//! More of this, each with k6's own answer, is in `tests/k6/html`.

use super::page::Page;
use super::selection::{Selection, selection};
use crate::harness::{all, vm};

fn cases(html: &str, cases: &[(&str, &str)]) {
    let vm = vm(|ctx| {
        crate::go_error::install(ctx)?;
        let parse = ctx.function(c"parseHTML", 1, super::parse_html)?;
        ctx.global().define("parseHTML", parse)?;
        let page = Page::parse(ctx, "<a id=a href='../x?y#z'>l</a><p>t</p>", "http://h:8/d/e/f")?;
        let root = page.document.root();
        ctx.global().define("page", selection(ctx, Selection::of(&page, vec![root]))?)
    });
    let html = serde_json::to_string(html).unwrap();
    vm.ctx().eval("setup.js", &format!("var doc = parseHTML({html})")).unwrap();
    all(&vm, cases);
}

#[test]
fn selections_step_from_list_to_list_and_back() {
    cases(
        "<ul><li id=a>1<li id=b class=x>2<li id=c>3</ul>",
        &[
            ("doc.find('li').size()", "3"),
            ("doc.find('li').not('.x').text()", "13"),
            ("doc.find('.x').next().attr('id')", "c"),
            ("doc.find('.x').siblings().map((i, s) => i + s.text()).join()", "01,13"),
            ("doc.find('li').filter((i) => i > 0).end().size()", "3"),
            ("doc.find('li').eq(-1).get(0).id()", "c"),
            ("doc.find('li').slice(1).toArray().length", "2"),
            ("doc.find('li').is('.x') + '' + doc.find('ul').has('.x').size()", "true1"),
            ("doc.find('li').get(9)", "undefined"),
            ("let n = 0; doc.find('li').each((i, e) => { n += i * e.id().length }); n", "3"),
            ("doc.find('li').map((i) => { if (i == 1) throw 1; return i }).join()", "0,2"),
            ("doc.single('li').size()", "1"),
        ],
    );
}

#[test]
fn a_selection_takes_selectors_selections_and_elements_of_its_document() {
    cases(
        "<p id=a></p><p id=b></p>",
        &[
            ("doc.find('#a').add('#b').size()", "2"),
            ("doc.find('p').not(doc.find('#a').get(0)).attr('id')", "b"),
            ("doc.find('p').not(parseHTML('<p>').find('p')).size()", "2"),
            ("doc.find(5)", "threw GoError: invalid argument, cannot use a 'int64' as a selector"),
            (
                "doc.find('p').filter({})",
                "threw GoError: the argument to filter() must be a function, a selector or a selection",
            ),
            ("doc.find.call({}, 'p').size()", "2"),
        ],
    );
}

#[test]
fn elements_have_what_their_kind_has() {
    cases(
        "<form id=f method=post><input id=i type=checkbox checked><select id=s><option selected>x</select></form>\
         <table><tr><td id=t></table><p id=p></p>",
        &[
            ("doc.find('#f').get(0).method()", "post"),
            ("doc.find('#i').get(0).checked()", "true"),
            ("doc.find('#i').get(0).form().id()", "f"),
            ("doc.find('#s').get(0).options().length", "1"),
            ("doc.find('#s').get(0).selectedOptions()[0].text()", "x"),
            ("doc.find('#t').get(0).cellIndex()", "0"),
            ("typeof doc.find('#p').get(0).method", "undefined"),
            ("doc.find('#p').get(0).nextSibling()", "undefined"),
            ("'' + doc.find('#p').get(0)", "[object html.Node]"),
            (
                "JSON.stringify(doc.find('#i').get(0))",
                "{\"form_field_element\":{\"element\":{}},\"element\":{}}",
            ),
            ("JSON.stringify(doc.find('#f').get(0))", "{\"element\":{}}"),
            ("doc.find('#i').get(0).form_field_element.form().id()", "f"),
            ("typeof doc.find('#i').get(0).element.form", "undefined"),
        ],
    );
}

#[test]
fn links_are_whole_where_the_page_is_known() {
    cases(
        "<a id=a href='../x'></a>",
        &[
            ("doc.find('a').get(0).href()", "../x"),
            ("page.url", "http://h:8/d/e/f"),
            ("page.find('a').get(0).href()", "http://h:8/d/x?y#z"),
            ("page.find('a').get(0).host()", "h:8"),
            ("page.find('a').get(0).hash()", "#z"),
        ],
    );
}

#[test]
fn documents_go_with_the_last_object_that_shows_them() {
    let vm = vm(|ctx| {
        ctx.global().define("parseHTML", ctx.function(c"parseHTML", 1, super::parse_html)?)
    });
    let page = {
        let root = vm.ctx().eval("t.js", "var e = parseHTML('<p>x</p>').find('p').get(0); e");
        let element = root.unwrap();
        let element = element.instance::<super::element::Element>().unwrap();
        std::rc::Rc::downgrade(element.page())
    };
    assert!(page.upgrade().is_some());
    vm.ctx().eval("t.js", "e = null").unwrap();
    assert!(page.upgrade().is_none());
}

#[test]
fn a_long_way_of_steps_takes_no_stack() {
    cases("<p>", &[("let s = doc; for (let i = 0; i < 100000; i++) s = s.first(); s.size()", "1")]);
}

#[test]
fn methods_are_the_objects_own_and_bound_to_them() {
    cases(
        "<a id=a href='/x'>l</a><p id=p>t</p>",
        &[
            ("const { find, url } = doc; find('p').text() + url", "t"),
            ("const { id, textContent } = doc.find('p').get(0); id() + textContent()", "pt"),
            ("Object.keys(doc).slice(0, 3).join()", "url,add,attr"),
            (
                "Object.keys(doc.find('a').get(0)).slice(0, 4).join()",
                "href_element,element,accessKey,attributes",
            ),
            ("'' + doc.find('a').get(0)", "/x"),
            ("doc.hasOwnProperty('find') + ' ' + doc.hasOwnProperty('nope')", "true false"),
            ("doc.foo = 1", "threw TypeError: Cannot assign to property foo of a host object"),
            ("delete doc.text", "threw TypeError: Cannot delete property text from a Go type"),
            (
                "delete doc.find('p').get(0).id",
                "threw TypeError: Cannot delete property id from a Go type",
            ),
            (
                "JSON.stringify(doc.find('p').get(0).attributes())",
                "{\"id\":{\"owner_element\":{},\"name\":\"id\",\"value\":\"p\"}}",
            ),
            (
                "const { localName } = doc.find('p').get(0).getAttributeNode('id'); localName()",
                "id",
            ),
        ],
    );
}
