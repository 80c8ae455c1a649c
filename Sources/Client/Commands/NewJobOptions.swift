import ArgumentParser

/// What can be said of a new job, beside its URL.
struct NewJobOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The session it belongs to. (default: default)", valueName: "name"),
        completion: .sessionNames)
    var session: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where the file goes, below the service's downloads folder; a folder where it ends with /.",
            valueName: "path"))
    var out: String?

    @Option(help: "What happens where a file is already. (default: the session's)")
    var onConflict: ConflictArgument?

    @Option(
        help: ArgumentHelp(
            "Bytes of any other sum never become a file: sha-256:HEX, sha-512:HEX, sha-1:HEX, md5:HEX.",
            valueName: "sum"))
    var checksum: ChecksumArgument?

    @Option(
        name: [.customShort("H"), .long], parsing: .singleValue,
        help: ArgumentHelp("A header to be sent; repeatable.", valueName: "name: value"))
    var header: [HeaderArgument] = []

    @Option(parsing: .singleValue, help: ArgumentHelp("Another URL of the same file; repeatable.", valueName: "url"))
    var mirror: [String] = []

    @Option(help: "Which goes first. (default: the session's)")
    var priority: PriorityArgument?

    @Option(help: ArgumentHelp("Connections to one file, 1 to 16. (default: the session's)", valueName: "n"))
    var connections: Int?

    @Option(help: ArgumentHelp("Bytes a second at most, such as 500K or 2M.", valueName: "bytes"))
    var rateLimit: ByteCount?

    @Option(help: ArgumentHelp("Not to begin earlier: 2030-01-31T22:00:00Z.", valueName: "time"))
    var notBefore: String?

    @Option(help: ArgumentHelp("To have failed then, if it is not done.", valueName: "time"))
    var deadline: String?

    @Option(
        parsing: .singleValue,
        help: "Wait for this instead of failing; repeatable. (default: the session's)")
    var waitFor: [HelpArgument] = []

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp("A word to find it by; repeatable.", valueName: "tag"))
    var tag: [String] = []

    /// Whether it makes sense for one URL only.
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
            notBefore: notBefore, deadline: deadline, waitFor: waitFor.isEmpty ? nil : waitFor.map(\.rawValue),
            tags: tag.isEmpty ? nil : tag)
    }
}

/// How is waited.
struct WaitingOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "No bars and no lines on the way; failures are told all the same.")
    var quiet = false

    @Option(help: ArgumentHelp("Wait so many seconds at most, then end with 124.", valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout < 1e9) {
            throw ValidationError("--timeout takes a number of seconds above 0.")
        }
    }
}
