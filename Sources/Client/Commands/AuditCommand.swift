import ArgumentParser

struct AuditCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Prints the audit log: changes of tokens, sessions, webhooks and settings, and refused requests.",
        discussion: """
            Equal refusals of a minute are one entry with a count. To continue later, pass the number of the last entry to \
            --after.

            EXAMPLES:
              fetchd audit
              fetchd audit --after 412 --json
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Only entries after this number.", valueName: "number"))
    var after: Int64?

    @Option(
        name: [.customShort("l", allowingJoined: true), .long],
        help: ArgumentHelp("The maximum number of entries. (default: all)", valueName: "n"))
    var limit: Int?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if let after, after < 0 { throw ValidationError("--after must be the number of an entry, or 0.") }
    }

    func perform(with service: RemoteService, _ console: Console) async throws {
        var (elements, entries, next): ([JSONText], [AuditEntryDocument], Int64) = ([], [], after ?? 0)
        while entries.count < limit ?? .max {
            let room = Int64(min(1000, (limit ?? .max) - entries.count))
            let answer = try await service.send("GET", RequestPath("audit").asking("after", next).asking("limit", room))
            let page = try answer.document(AuditListDocument.self)
            if page.entries.isEmpty { break }
            (entries, next) = (entries + page.entries, page.nextAfter)
            elements += JSONText(answer.body)["entries"]?.elements ?? []
        }
        if console.isJSON {
            return try console.print(
                .object([("entries", .array(elements)), ("next_after", JSONText(JSONText.written(next)))]))
        }
        if entries.isEmpty { return console.say("The audit log has no entries.") }
        try console.print(Self.table(of: entries))
    }

    private static func table(of entries: [AuditEntryDocument]) -> Table {
        var table = Table(
            .init(title: "NUMBER", isRightAligned: true), .init(title: "TIME"), .init(title: "CALLER"),
            .init(title: "ADDRESS", isDispensable: true), .init(title: "OUTCOME"),
            .init(title: "COUNT", isRightAligned: true), .init(title: "ACTION"))
        for entry in entries {
            table.add(
                .init("\(entry.id)"), .init(DisplayFormat.time(entry.time)),
                .init(entry.name ?? entry.caller ?? (entry.reason == nil ? "-" : "unknown")), .init(entry.address),
                .init(entry.reason ?? entry.outcome), .init("\(entry.count)"),
                .init([entry.action, entry.target, entry.change].compactMap(\.self).joined(separator: ", ")))
        }
        return table
    }
}
