//! The messages as protobuf has them. Numbers of fields are never used for something else.

/// A message: a frame, or a part of one.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Message {
    /// 1.
    #[prost(uint32, tag = "1")]
    pub(super) format: u32,
    #[prost(fixed64, tag = "2")]
    pub(super) nonce: u64,
    #[prost(uint32, tag = "3")]
    pub(super) seat: u32,
    #[prost(fixed64, tag = "4")]
    pub(super) incarnation: u64,
    #[prost(uint64, tag = "5")]
    pub(super) seq: u64,
    #[prost(uint64, tag = "6")]
    pub(super) from_ns: u64,
    #[prost(uint64, tag = "7")]
    pub(super) to_ns: u64,
    #[prost(bool, tag = "8")]
    pub(super) is_last: bool,
    /// The table of texts: others tell their places in it.
    #[prost(string, repeated, tag = "9")]
    pub(super) texts: Vec<String>,
    #[prost(message, repeated, tag = "10")]
    pub(super) series: Vec<Series>,
    #[prost(message, repeated, tag = "11")]
    pub(super) checks: Vec<Check>,
    #[prost(message, repeated, tag = "12")]
    pub(super) groups: Vec<Group>,
    #[prost(message, repeated, tag = "13")]
    pub(super) exceptions: Vec<Exception>,
    #[prost(uint64, tag = "14")]
    pub(super) exceptions_others: u64,
    #[prost(message, optional, tag = "15")]
    pub(super) dropped: Option<Dropped>,
    #[prost(fixed64, tag = "16")]
    pub(super) at: u64,
    #[prost(uint64, tag = "17")]
    pub(super) late: u64,
    /// Iterations that are done: scenario, first and last number, and so on.
    #[prost(uint64, repeated, tag = "18")]
    pub(super) done: Vec<u64>,
}

#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Series {
    /// A text.
    #[prost(uint32, tag = "1")]
    pub(super) metric: u32,
    /// 0 counter, 1 gauge, 2 rate, 3 trend.
    #[prost(uint32, tag = "2")]
    pub(super) kind: u32,
    /// 0 default, 1 time, 2 data.
    #[prost(uint32, tag = "3")]
    pub(super) contains: u32,
    /// Texts: key, value, key, value.
    #[prost(uint32, repeated, tag = "4")]
    pub(super) tags: Vec<u32>,
    /// A text.
    #[prost(uint32, optional, tag = "5")]
    pub(super) route: Option<u32>,
    /// Of a counter, a trend: the sum; of a gauge: the last value.
    #[prost(double, tag = "6")]
    pub(super) sum: f64,
    /// Of a counter, a trend: the rest of the sum.
    #[prost(double, tag = "7")]
    pub(super) rest: f64,
    /// Of a gauge, a trend.
    #[prost(double, tag = "8")]
    pub(super) min: f64,
    /// Of a gauge, a trend.
    #[prost(double, tag = "9")]
    pub(super) max: f64,
    /// Of a counter when the first value came, of a gauge the last.
    #[prost(fixed64, optional, tag = "10")]
    pub(super) at: Option<u64>,
    /// Of a rate.
    #[prost(uint64, tag = "11")]
    pub(super) hits: u64,
    /// Of a rate.
    #[prost(uint64, tag = "12")]
    pub(super) total: u64,
    /// Of a trend that is exact.
    #[prost(double, repeated, tag = "13")]
    pub(super) values: Vec<f64>,
    /// Of a trend that is not: the keys of its buckets, each as the difference to the one before.
    #[prost(uint32, repeated, tag = "14")]
    pub(super) keys: Vec<u32>,
    /// The counts of these buckets.
    #[prost(uint64, repeated, tag = "15")]
    pub(super) counts: Vec<u64>,
}

#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Check {
    /// A text: the path of its group.
    #[prost(uint32, tag = "1")]
    pub(super) group: u32,
    /// A text.
    #[prost(uint32, tag = "2")]
    pub(super) name: u32,
    #[prost(uint64, tag = "3")]
    pub(super) passes: u64,
    #[prost(uint64, tag = "4")]
    pub(super) fails: u64,
    #[prost(uint64, tag = "5")]
    pub(super) order: u64,
}

#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Group {
    /// A text.
    #[prost(uint32, tag = "1")]
    pub(super) path: u32,
    #[prost(uint64, tag = "2")]
    pub(super) order: u64,
}

#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Exception {
    /// A text.
    #[prost(uint32, tag = "1")]
    pub(super) text: u32,
    #[prost(uint64, tag = "2")]
    pub(super) count: u64,
    #[prost(uint64, tag = "3")]
    pub(super) order: u64,
}

#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Dropped {
    #[prost(uint64, tag = "1")]
    pub(super) samples: u64,
    #[prost(uint64, tag = "2")]
    pub(super) checks: u64,
    #[prost(uint64, tag = "3")]
    pub(super) groups: u64,
    #[prost(uint64, tag = "4")]
    pub(super) not_numbers: u64,
    #[prost(uint64, tag = "5")]
    pub(super) resets: u64,
    #[prost(uint64, tag = "6")]
    pub(super) crowded: u64,
    #[prost(uint64, tag = "7")]
    pub(super) stale: u64,
}
