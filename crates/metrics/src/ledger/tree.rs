//! The tree of groups and the checks in it.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::frame::{CheckDelta, Frame};
use crate::summary::{CheckSummary, GroupSummary};

/// Groups and checks that are kept; others are left out (each core has its bound too, and counts).
const NODES_MAX: usize = 20_000;
/// The bytes of their names and paths; when there are more, it is as if there were too many.
const BYTES_MAX: usize = 64 << 20;
/// How deep groups may nest; what is deeper belongs to the group at this depth.
const DEPTH_MAX: usize = 64;

#[derive(Debug)]
pub(super) struct Tree {
    /// The root is the first.
    groups: Vec<Node>,
    by_path: FxHashMap<Arc<str>, usize>,
    checks: Vec<CheckSummary>,
    /// When each check came: a number that grows with time.
    came: Vec<u64>,
    by_check: FxHashMap<(usize, Arc<str>), usize>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Node {
    name: String,
    path: String,
    parent: usize,
    /// When it came, or the first within it.
    came: u64,
    groups: Vec<usize>,
    checks: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            groups: vec![Node::default()],
            by_path: FxHashMap::from_iter([(Arc::from(""), 0)]),
            checks: Vec::new(),
            came: Vec::new(),
            by_check: FxHashMap::default(),
            bytes: 0,
        }
    }
}

impl Tree {
    /// How many results of checks it had no room for.
    pub(super) fn absorb(&mut self, frame: &Frame) -> u64 {
        let mut left_out = 0;
        for (number, path) in &frame.groups {
            let mut index = self.group(path);
            // Those around it came no later.
            while index != 0 && self.groups[index].came > *number {
                self.groups[index].came = *number;
                index = self.groups[index].parent;
            }
        }
        let mut checks: Vec<&CheckDelta> = frame.checks.iter().collect();
        checks.sort_by_key(|check| (check.first_at_order, &check.group, &check.name));
        for delta in checks {
            let group = self.group(&delta.group);
            let Some(index) = self.check(group, &delta.name) else {
                left_out += delta.passes + delta.fails;
                continue;
            };
            self.came[index] = self.came[index].min(delta.first_at_order);
            let check = &mut self.checks[index];
            check.passes += delta.passes;
            check.fails += delta.fails;
        }
        left_out
    }

    fn check(&mut self, group: usize, name: &Arc<str>) -> Option<usize> {
        let key = (group, Arc::clone(name));
        let index = match self.by_check.get(&key) {
            Some(index) => *index,
            None if self.checks.len() >= NODES_MAX || self.bytes >= BYTES_MAX => return None,
            None => {
                let index = self.checks.len();
                let node = &mut self.groups[group];
                self.bytes += name.len() + node.path.len();
                node.checks.push(index);
                self.checks.push(CheckSummary {
                    name: name.to_string(),
                    group: node.path.clone(),
                    ..CheckSummary::default()
                });
                self.came.push(u64::MAX);
                self.by_check.insert(key, index);
                index
            }
        };
        Some(index)
    }

    /// The node of a path; those on the way are made too. Without room, the last one there was room
    /// for.
    fn group(&mut self, path: &str) -> usize {
        if let Some(index) = self.by_path.get(path) {
            return *index;
        }
        let mut parent = 0;
        for name in path.strip_prefix("::").unwrap_or(path).split("::").take(DEPTH_MAX) {
            let path = format!("{}::{name}", self.groups[parent].path);
            parent = match self.by_path.get(path.as_str()) {
                Some(index) => *index,
                None if self.groups.len() >= NODES_MAX || self.bytes >= BYTES_MAX => return parent,
                None => {
                    let index = self.groups.len();
                    self.bytes += name.len() + 2 * path.len();
                    self.groups[parent].groups.push(index);
                    self.by_path.insert(Arc::from(path.as_str()), index);
                    self.groups.push(Node {
                        name: name.to_owned(),
                        path,
                        parent,
                        came: u64::MAX,
                        ..Node::default()
                    });
                    index
                }
            };
        }
        parent
    }

    pub(super) fn checks(&self) -> Vec<CheckSummary> {
        let all: Vec<usize> = (0..self.checks.len()).collect();
        self.in_order(&all)
    }

    fn in_order(&self, checks: &[usize]) -> Vec<CheckSummary> {
        let mut checks = checks.to_vec();
        checks.sort_by_key(|index| self.came[*index]);
        checks.into_iter().map(|index| self.checks[index].clone()).collect()
    }

    pub(super) fn summary(&self) -> GroupSummary {
        self.summary_of(0)
    }

    fn summary_of(&self, index: usize) -> GroupSummary {
        let node = &self.groups[index];
        let mut groups = node.groups.clone();
        groups.sort_by_key(|index| self.groups[*index].came);
        GroupSummary {
            name: node.name.clone(),
            path: node.path.clone(),
            groups: groups.into_iter().map(|index| self.summary_of(index)).collect(),
            checks: self.in_order(&node.checks),
        }
    }
}
