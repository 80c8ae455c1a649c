extension TransferRequest {
    /// What a server has to keep up, lest the transfer fail with `tooSlow`.
    ///
    /// Judged over every stretch of `over` from the accepted head on, ten times in that time. The time in which the
    /// transfer was paused here, by a rate limit or by a handler that holds its chunks, does not count.
    public struct MinimumSpeed: Sendable, Equatable {
        /// Bytes of body per second, on average over the stretch; below 1 nothing is demanded.
        public var bytesPerSecond: Int64

        /// At least 100 ms: what is shorter counts as that.
        public var over: Duration

        public init(bytesPerSecond: Int64, over: Duration = .seconds(60)) {
            self.bytesPerSecond = bytesPerSecond
            self.over = over
        }
    }
}
