//! The orders of a session, drawn when its user logs in.

use crate::dice::Dice;

/// An order.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// Eight digits, other ones in each session.
    pub(super) id: u64,
    pub(super) customer: &'static str,
    pub(super) item: &'static str,
    pub(super) quantity: u32,
    pub(super) note: String,
    /// Six digits that grow by one with each change. A form that saves must name the version that it shows.
    pub(super) version: u64,
}

/// The maximum quantity of an order.
pub(super) const QUANTITY_MAX: u32 = 999;
/// Characters of the longest note.
pub(super) const NOTE_MAX: usize = 200;

/// The number of orders that a session has.
const ORDERS: u64 = 8;
const CUSTOMERS: [&str; 6] =
    ["Abbott & Sons", "Birch + Co", "Calder", "D'Arcy", "Estrada", "Fjord A/S"];
const ITEMS: [&str; 5] = ["anvil", "bellows", "chisel 3/8\"", "drill", "gouge <fine>"];

impl Order {
    /// New orders, with ids that no other session is likely to have.
    pub(super) fn draw(dice: &Dice) -> Vec<Self> {
        // Each from a range of its own: so they differ.
        let range = 90_000_000 / ORDERS;
        let order = |index: u64| Self {
            id: 10_000_000 + index * range + dice.below(range),
            customer: CUSTOMERS[dice.below(CUSTOMERS.len() as u64) as usize],
            item: ITEMS[index as usize % ITEMS.len()],
            quantity: 1 + dice.below(99) as u32,
            note: String::new(),
            version: 100_000 + dice.below(800_000),
        };
        (0..ORDERS).map(order).collect()
    }

    /// Whether a text is in its id, customer or item, small letters or capitals.
    pub(super) fn matches(&self, filter: &str) -> bool {
        let filter = filter.trim().to_lowercase();
        self.customer.to_lowercase().contains(&filter)
            || self.item.contains(&filter)
            || self.id.to_string().contains(&filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_orders_of_two_sessions_have_nothing_in_common() {
        let dice = Dice::new(Some(1));
        let (one, other) = (Order::draw(&dice), Order::draw(&dice));
        for order in &one {
            assert_eq!(order.id.to_string().len(), 8);
            assert!(other.iter().all(|o| (o.id, o.version) != (order.id, order.version)));
            assert_eq!(one.iter().filter(|o| o.id == order.id).count(), 1);
        }
    }

    #[test]
    fn a_filter_finds_ids_customers_and_items() {
        let orders = Order::draw(&Dice::new(Some(1)));
        let found = |filter: &str| orders.iter().filter(|order| order.matches(filter)).count();
        assert_eq!((found(""), found("ANVIL "), found("no such thing")), (8, 2, 0));
        assert!(found(&orders[3].id.to_string()) == 1 && found(orders[3].customer) >= 1);
    }
}
