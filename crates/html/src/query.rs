//! The steps from one list of nodes to the next, with jQuery's names: each list in the order of the nodes that it came from,
//! each node once.

use std::collections::HashSet;

use crate::document::{Document, NodeId};

/// Lists up to this length are searched, longer ones are hashed.
const SHORT: usize = 16;

/// The nodes, each at its first place.
pub fn distinct(nodes: Vec<NodeId>) -> Vec<NodeId> {
    let mut nodes = nodes;
    if nodes.len() <= SHORT {
        let mut kept: Vec<NodeId> = Vec::with_capacity(nodes.len());
        for node in nodes {
            if !kept.contains(&node) {
                kept.push(node);
            }
        }
        return kept;
    }
    let mut seen = HashSet::with_capacity(nodes.len());
    nodes.retain(|&node| seen.insert(node));
    nodes
}

/// The nodes that `lead` gives for each node.
fn each<I: Iterator<Item = NodeId>>(
    nodes: &[NodeId],
    lead: impl FnMut(NodeId) -> I,
) -> Vec<NodeId> {
    distinct(nodes.iter().copied().flat_map(lead).collect())
}

/// The elements directly in these.
pub fn children(document: &Document, nodes: &[NodeId]) -> Vec<NodeId> {
    each(nodes, |node| document.child_elements(node))
}

/// All nodes directly in these.
pub fn contents(document: &Document, nodes: &[NodeId]) -> Vec<NodeId> {
    each(nodes, |node| document.children(node))
}

/// For each node the nearest around it that is wanted; the node itself comes first.
pub fn closest(
    document: &Document,
    nodes: &[NodeId],
    wanted: impl Fn(NodeId) -> bool,
) -> Vec<NodeId> {
    each(nodes, |node| {
        let found =
            std::iter::once(node).chain(document.ancestors(node)).find(|&node| wanted(node));
        found.into_iter()
    })
}

/// The elements that these are directly in.
pub fn parents_direct(document: &Document, nodes: &[NodeId]) -> Vec<NodeId> {
    each(nodes, |node| {
        document.parent(node).filter(|&parent| document.is_element(parent)).into_iter()
    })
}

/// All elements around these, from the inside out, up to one at which to stop.
pub fn parents(
    document: &Document,
    nodes: &[NodeId],
    stop: impl Fn(NodeId) -> bool,
) -> Vec<NodeId> {
    each(nodes, |node| {
        document
            .ancestors(node)
            .take_while(|&outer| !stop(outer))
            .filter(|&outer| document.is_element(outer))
    })
}

/// The elements beside each.
pub fn siblings(document: &Document, nodes: &[NodeId]) -> Vec<NodeId> {
    each(nodes, |node| {
        let kin = document.parent(node).into_iter();
        kin.flat_map(|parent| document.child_elements(parent)).filter(move |&other| other != node)
    })
}

/// Where to look for siblings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Those before, the nearest first.
    Before,
    /// Those after.
    After,
}

/// The elements at one side of each, up to one at which to stop.
pub fn beside(
    document: &Document,
    nodes: &[NodeId],
    side: Side,
    stop: impl Fn(NodeId) -> bool,
) -> Vec<NodeId> {
    let mut found = Vec::new();
    for &node in nodes {
        found.extend(elements_beside(document, node, side).take_while(|&other| !stop(other)));
    }
    distinct(found)
}

/// The nearest element at one side of each.
pub fn neighbour(document: &Document, nodes: &[NodeId], side: Side) -> Vec<NodeId> {
    each(nodes, |node| elements_beside(document, node, side).next().into_iter())
}

/// The elements at one side of a node, the nearest first.
pub fn elements_beside(
    document: &Document,
    node: NodeId,
    side: Side,
) -> impl Iterator<Item = NodeId> {
    let step = move |&node: &NodeId| match side {
        Side::Before => document.previous(node),
        Side::After => document.next(node),
    };
    std::iter::successors(step(&node), step).filter(|&other| document.is_element(other))
}

/// The nodes of `wanted` that are below one of the nodes.
pub fn below(document: &Document, nodes: &[NodeId], wanted: &[NodeId]) -> Vec<NodeId> {
    let is_below = |&node: &NodeId| nodes.iter().any(|&outer| document.is_below(node, outer));
    distinct(wanted.iter().copied().filter(is_below).collect())
}

/// The nodes that have one of `inner` below them.
pub fn with_below(document: &Document, nodes: &[NodeId], inner: &[NodeId]) -> Vec<NodeId> {
    // All that is around one of them, once.
    let around: HashSet<_> = inner.iter().flat_map(|&node| document.ancestors(node)).collect();
    nodes.iter().copied().filter(|node| around.contains(node)).collect()
}
