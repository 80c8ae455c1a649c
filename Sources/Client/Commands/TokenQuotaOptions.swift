import ArgumentParser

/// The quotas of a new token.
struct TokenQuotaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The number of jobs of the token that may be outstanding. (default: no limit)", valueName: "n"))
    var maxOutstandingJobs: Int?

    @Option(
        help: ArgumentHelp(
            "The bytes that the jobs of the token may receive on a day (UTC), such as 50G. (default: no limit)",
            valueName: "bytes"))
    var maxBytesPerDay: ByteCount?

    @Option(
        help: ArgumentHelp(
            "The number of jobs of the token that may run at the same time. (default: no limit)", valueName: "n"))
    var maxConcurrentTransfers: Int?

    @Option(help: ArgumentHelp("The number of requests a second. (default: no limit)", valueName: "n"))
    var maxRequestsPerSecond: Int?

    /// The member `quotas`; nil without any quota.
    var document: JSONText? {
        let quotas: [(name: String, value: Int64?)] = [
            ("outstanding_jobs", maxOutstandingJobs.map(Int64.init)), ("bytes_per_day", maxBytesPerDay?.count),
            ("concurrent_transfers", maxConcurrentTransfers.map(Int64.init)),
            ("requests_per_second", maxRequestsPerSecond.map(Int64.init)),
        ]
        let members = quotas.compactMap { quota in
            quota.value.map { (name: quota.name, value: JSONText(JSONText.written($0))) }
        }
        return members.isEmpty ? nil : .object(members)
    }
}
