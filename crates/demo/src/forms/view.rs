//! Views: a page as one session sees it.

/// A page with a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    Login,
    Orders,
    Order,
    Upload,
}

/// A page, and which order it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    pub(super) page: Page,
    /// The id of the order; 0 on pages that show no single one.
    pub(super) order: u64,
}

impl Page {
    const ALL: [Self; 4] = [Self::Login, Self::Orders, Self::Order, Self::Upload];

    /// The path of the page.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Login => "/app/login.xhtml",
            Self::Orders => "/app/orders.xhtml",
            Self::Order => "/app/order.xhtml",
            Self::Upload => "/app/upload.xhtml",
        }
    }

    /// Bytes that the state of its components takes where the client keeps it. A page with a table has more than one with
    /// two fields.
    pub(super) const fn weight(self) -> u64 {
        match self {
            Self::Login => 1600,
            Self::Upload => 3000,
            Self::Order => 6000,
            Self::Orders => 11_500,
        }
    }

    /// The view of the page that shows no single order.
    pub(super) const fn view(self) -> View {
        View { page: self, order: 0 }
    }
}

/// Bytes of a view.
const SIZE: usize = 9;

impl View {
    /// The view as bytes.
    pub(super) fn to_bytes(self) -> [u8; SIZE] {
        let mut bytes = [self.page as u8; SIZE];
        bytes[1..].copy_from_slice(&self.order.to_be_bytes());
        bytes
    }

    /// The view at the begin of these bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (page, rest) = bytes.split_first()?;
        let page = Page::ALL.into_iter().find(|known| *known as u8 == *page)?;
        Some(Self { page, order: u64::from_be_bytes(*rest.first_chunk()?) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_the_view_back() {
        for page in Page::ALL {
            let view = View { page, order: 48_213_977 };
            assert_eq!(View::from_bytes(&view.to_bytes()), Some(view));
        }
        assert_eq!(View::from_bytes(&[9; SIZE]), None);
        assert_eq!(View::from_bytes(&[0; SIZE - 1]), None);
    }
}
