//! `Array.prototype.sort`: the engine's own, which can be stopped.

use super::{text, vm};

/// As the language has it since ES2019; functions that do not contradict themselves, in any number of elements.
#[test]
fn sorting_is_stable() {
    let vm = vm();
    let sorted = "const stable = (count, ranks) => {
            const list = Array.from({ length: count }, (_, at) => ({ at, rank: (at * 7919) % ranks }));
            const sorted = list.toSorted((a, b) => a.rank - b.rank);
            list.sort((a, b) => b.rank - a.rank).reverse();
            const is = (a, b) => a.rank < b.rank || (a.rank === b.rank && a.at < b.at);
            return sorted.every((one, i) => i === 0 || is(sorted[i - 1], one)) &&
                list.every((one, i) => i === 0 || list[i - 1].rank <= one.rank);
        };
        [[1, 1], [6, 2], [7, 3], [100, 5], [1000, 1], [5000, 700], [5000, 6000]].every(([count, ranks]) => stable(count, ranks))";
    assert_eq!(text(vm.ctx(), sorted), "true");
}

#[test]
fn what_a_comparison_throws_leaves_the_list_whole() {
    let vm = vm();
    let thrown = "const list = Array.from({ length: 500 }, (_, i) => (i * 37) % 501);
        let asked = 0, said = '';
        try { list.sort((a, b) => { if (++asked === 300) throw new Error('enough'); return a - b }) } catch (e) { said = e.message }
        [said, asked, new Set(list).size].join()";
    assert_eq!(text(vm.ctx(), thrown), "enough,300,500");
}
