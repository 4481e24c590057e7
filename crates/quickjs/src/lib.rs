//! QuickJS-NG behind safe doors.
