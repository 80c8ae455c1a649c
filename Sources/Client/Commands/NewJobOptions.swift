import ArgumentParser

/// The options of a new job, except for its URL.
struct NewJobOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The session of the job. (default: default)", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The path of the file, relative to the service's downloads folder. A path that ends with / is a folder.",
            valueName: "path"))
    var out: String?

    @Option(help: "The action if the file already exists. (default: the session's)")
    var onConflict: ConflictArgument?

    @Option(
        help: ArgumentHelp(
            "The expected checksum: sha-256:HEX, sha-512:HEX, sha-1:HEX or md5:HEX. The job fails if the file has another one.",
            valueName: "sum"))
    var checksum: ChecksumArgument?

    @Option(
        name: [.customShort("H"), .long], parsing: .singleValue,
        help: ArgumentHelp("A request header; repeatable.", valueName: "name: value"))
    var header: [HeaderArgument] = []

    @Option(parsing: .singleValue, help: ArgumentHelp("Another URL of the same file; repeatable.", valueName: "url"))
    var mirror: [String] = []

    @Option(help: "Jobs with a higher priority start first. (default: the session's)")
    var priority: PriorityArgument?

    @Option(help: ArgumentHelp("Connections for the file, 1 to 16. (default: the session's)", valueName: "n"))
    var connections: Int?

    @Option(help: ArgumentHelp("The maximum rate in bytes per second, such as 500K or 2Mi.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Flag(
        help:
            "Decode a body that the server has compressed (gzip or deflate). Without it, the bytes are stored as they come."
    )
    var decode = false

    @Option(
        help: ArgumentHelp(
            "Start at this time or later: 22:00, '2030-01-31 22:00' (local time), or 2030-01-31T22:00:00Z.",
            valueName: "time"))
    var notBefore: MomentArgument?

    @Option(help: ArgumentHelp("Fail if the download has not ended at this time.", valueName: "time"))
    var deadline: MomentArgument?

    @Option(
        parsing: .singleValue,
        help: "Wait instead of failing if the download lacks this; repeatable. (default: the session's)")
    var waitFor: [HelpArgument] = []

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp("A tag, to find the job by; repeatable.", valueName: "tag"))
    var tag: [String] = []

    /// Whether an option is given that is valid for only one URL.
    var concernsOneFile: Bool {
        !mirror.isEmpty || checksum != nil || (out.map { !$0.isEmpty && !$0.hasSuffix("/") } ?? false)
    }

    func document(_ url: String) -> NewJobDocument {
        NewJobDocument(
            url: mirror.isEmpty ? url : nil, urls: mirror.isEmpty ? nil : [url] + mirror, session: session,
            headers: header.isEmpty
                ? nil : Dictionary(header.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" }),
            destination: NewDestination(path: out, onConflict: onConflict), priority: priority?.rawValue,
            connections: connections, rateLimitBytesPerSecond: rateLimit?.count, checksum: checksum?.checksum,
            decode: decode ? true : nil, notBefore: notBefore?.time, deadline: deadline?.time,
            waitFor: waitFor.isEmpty ? nil : waitFor.map(\.rawValue),
            tags: tag.isEmpty ? nil : tag)
    }
}
