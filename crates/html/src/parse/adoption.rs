//! The end of an element of formatting that was not the last to begin: `<b>1<p>2</b>3` ("adoption agency", 13.2.6.4.7).

use super::Parser;
use super::stack::Scope;
use crate::document::NodeId;
use crate::name::Name;

/// How often one end tag may take a tree apart.
const ROUNDS: usize = 8;
/// Elements between the two ends that stay elements of formatting.
const KEPT: usize = 3;

impl Parser<'_> {
    pub(super) fn end_formatting(&mut self, name: Name) {
        let top = self.top();
        if self.name(top) == Some(name) && self.formatting_place(top).is_none() {
            self.open.pop();
            return;
        }
        for _ in 0..ROUNDS {
            let since_mark = self.formatting.iter().rev().map_while(|&node| node);
            let Some(element) = { since_mark }.find(|&node| self.name(node) == Some(name)) else {
                self.end_other(name);
                return;
            };
            let Some(place) = self.open.iter().rposition(|&node| node == element) else {
                self.remove_formatting(element);
                return;
            };
            if !self.is_in_scope(Scope::Default, name) {
                return;
            }
            let block = self.open[place..].iter().copied().find(|&node| self.is_special(node));
            let Some(block) = block else {
                self.open.truncate(place);
                self.remove_formatting(element);
                return;
            };
            // There is always something around: the root is no element of formatting.
            let Some(outer) = place.checked_sub(1).map(|place| self.open[place]) else { return };
            self.adopt(element, block, outer);
            if self.error.is_some() {
                return;
            }
        }
    }

    /// Ends `element` before `block` begins, and begins it again inside.
    fn adopt(&mut self, element: NodeId, block: NodeId, outer: NodeId) {
        let mut bookmark = self.formatting_place(element).unwrap_or(0);
        let mut last = block;
        let mut place = self.open.iter().rposition(|&node| node == block).unwrap_or(0);
        for count in 1.. {
            let Some(next) = place.checked_sub(1) else { break };
            place = next;
            let node = self.open[place];
            if node == element {
                break;
            }
            let known = self.formatting_place(node);
            if let Some(known) = known.filter(|_| count > KEPT) {
                self.formatting.remove(known);
                if known <= bookmark {
                    bookmark = bookmark.saturating_sub(1);
                }
                // It stays open, as in Go.
                continue;
            }
            let Some(known) = known else {
                self.open.remove(place);
                continue;
            };
            let copy = self.copy(node);
            self.formatting[known] = Some(copy);
            self.open[place] = copy;
            if last == block {
                bookmark = known + 1;
            }
            self.detach(last);
            self.append(copy, last);
            last = copy;
        }

        self.detach(last);
        if self.is_part_of_table(outer) {
            self.foster(last);
        } else {
            self.append(outer, last);
        }

        let copy = self.copy(element);
        self.move_children(block, copy);
        self.append(block, copy);

        if self.formatting_place(element).is_some_and(|place| place < bookmark) {
            bookmark -= 1;
        }
        self.remove_formatting(element);
        self.formatting.insert(bookmark.min(self.formatting.len()), Some(copy));
        self.close(element);
        let after = self.open.iter().rposition(|&node| node == block).map_or(0, |place| place + 1);
        self.open.insert(after, copy);
    }
}
