import Storage

/// A job with a running attempt, at this moment.
public typealias RunningJob = NodeExchange.Report
