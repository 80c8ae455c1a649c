/// Durations in the units of the calls they are passed to.
extension Duration {
    /// Rounded up, so that nobody wakes just before the time; at least 0.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let (whole, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole.addingReportingOverflow(fraction).overflow ? .max : whole + fraction
    }
}
