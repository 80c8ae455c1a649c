import ArgumentParser
import Formats
import Foundation

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "token", "Creates, lists, rotates and revokes tokens of the API.",
        discussion: """
            These commands need an administrator's token, or no token on the machine of the service while no administrator has \
            one.
            """,
        examples: "token create films --scope jobs --expires 90d", "token list",
        "token revoke tok_01HZX3K9V7Q2N4R8T6W0YB5CDH",
        subcommands: [TokenCreateCommand.self, ListTokens.command, TokenRotateCommand.self, RevokeToken.command])
}

struct TokenCreateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "create", "Creates a token, and prints its secret.",
        discussion: """
            Each scope includes the ones before it. A 'read' token reads jobs, sessions, events and files; 'jobs' also creates \
            and changes jobs; 'sessions' also declares sessions and webhooks; 'admin' does everything, in all sessions.
            """,
        examples: "token create laptop --scope sessions", "token create films --scope jobs -s 'films*' --expires 90d",
        "token create --scope read --quiet")

    @Argument(help: "A label for people, such as the name of the program that gets the token.") var name: String?
    @Option(help: "What the token allows.") var scope: ScopeArgument

    @Option(
        "A session that the token is bound to, or a beginning of names, such as 'films*'; repeatable. (default: all sessions)",
        "session", name: .shortAndLong, completion: .sessionNames)
    var session: [String] = []

    @Option(
        "When the token expires: a time from now such as 12h, 90d or 2w, or a moment such as '2030-01-31 00:00' (local time) or 2030-01-31T00:00:00Z. (default: never)",
        "time")
    var expires: ExpiryArgument?

    @OptionGroup(title: "Quotas") var quotas: QuotaOptions
    @Flag(name: .shortAndLong, help: "Print only the secret.") var quiet = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members = JSONObject()
        members.set("scope", scope.rawValue)
        members.set("name", name)
        members.set("sessions", session)
        members.set("expires_at", expires?.time(from: Date()))
        members.set("quotas", quotas.document)
        let response = try await service.send("POST", RequestPath("tokens"), .object(members))
        try console.print(response, as: quiet ? .tokenSecret : .token)
    }
}

struct QuotaOptions: ParsableArguments {
    @Option("The number of jobs of the token that may be outstanding. (default: no limit)", "n")
    var maxOutstandingJobs: Int?

    @Option(
        "The bytes that the jobs of the token may receive on a day (UTC), such as 50G. (default: no limit)", "bytes")
    var maxBytesPerDay: ByteCount?

    @Option("The number of jobs of the token that may run at the same time. (default: no limit)", "n")
    var maxConcurrentTransfers: Int?

    @Option("The number of requests a second. (default: no limit)", "n") var maxRequestsPerSecond: Int?

    /// The member `quotas`; nil without any quota.
    var document: JSON? {
        var quotas = JSONObject()
        quotas.set("outstanding_jobs", maxOutstandingJobs)
        quotas.set("bytes_per_day", maxBytesPerDay?.count)
        quotas.set("concurrent_transfers", maxConcurrentTransfers)
        quotas.set("requests_per_second", maxRequestsPerSecond)
        return quotas.isEmpty ? nil : .object(quotas)
    }
}

enum ListTokens: ActionName {
    struct Operands: ParsableArguments {
        @Flag(name: .shortAndLong, help: "Print only identifiers.") var quiet = false
    }

    static let action = Action<Operands>(
        "list", "Lists all tokens, the oldest first.",
        discussion: "The secrets are not shown, because the service does not store them.", examples: "token list",
        aliases: ["ls"]
    ) { operands, service, console in
        let response = try await service.send("GET", RequestPath("tokens"))
        let tokens = try response.list("tokens", of: TokenDocument.self)
        if console.isJSON { return try console.print(response.text) }
        if operands.quiet { return try console.printIDs(tokens.map(\.id)) }
        if tokens.isEmpty { return console.say("No tokens. To create one: fetchd token create --scope admin") }
        try console.print(
            Table(
                tokens, .init("TOKEN") { $0.id }, .init("NAME") { $0.name ?? "" }, .init("SCOPE") { $0.scope },
                .init("LAST USED", isDispensable: true) { $0.lastUsedAt.map(DisplayFormat.time) ?? "never" },
                .init("EXPIRES") { $0.expiresAt.map(DisplayFormat.time) ?? "never" },
                .init("QUOTAS", isDispensable: true) { $0.quotas.line },
                .init("SESSIONS") { $0.sessions?.joined(separator: ", ") ?? "all" }))
    }
}

struct TokenName: ParsableArguments {
    @Argument(help: "The identifier or the name of the token.", completion: .tokenIDs) var token: String

    func id(on service: RemoteService) async throws(ClientError) -> String {
        guard !token.hasPrefix("tok_") else { return token }
        let tokens = try await service.send("GET", RequestPath("tokens")).list("tokens", of: TokenDocument.self)
        let ids = tokens.filter { $0.name == token }.map(\.id)
        guard let id = ids.first else {
            throw ClientError(
                .missing, "There is no such token",
                "No token has the identifier or the name \(Printable(token)). To see them: fetchd token list")
        }
        guard ids.count == 1 else {
            throw ClientError(
                .misused, "Several tokens have this name",
                "\(ids.count) tokens have the name \(token): \(ids.joined(separator: ", ")). Give the identifier.")
        }
        return id
    }
}

struct TokenRotateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        "rotate", "Replaces the secret of a token, and prints the new one.",
        discussion: "The service refuses the old secret at once, unless --overlap gives its users time to change it.",
        examples: "token rotate tok_01HZX3K9V7Q2N4R8T6W0YB5CDH", "token rotate laptop",
        "token rotate tok_01HZX3K9V7Q2N4R8T6W0YB5CDH --overlap 1h")

    @OptionGroup var token: TokenName

    @Option(
        "The time for which the service still accepts the old secret, such as 90s or 1h; at most a week. (default: none)",
        "duration")
    var overlap: DurationArgument?

    @Flag(name: .shortAndLong, help: "Print only the secret.") var quiet = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("tokens", try await token.id(on: service), "rotate")
        let body = overlap.map { ["overlap_seconds": .number($0.seconds)] as JSON }
        try await console.print(service.send("POST", path, body), as: quiet ? .tokenSecret : .token)
    }
}

enum RevokeToken: ActionName {
    static let action = Action<TokenName>(
        "revoke", "Deletes a token. The service refuses it from now on.",
        examples: "token revoke tok_01HZX3K9V7Q2N4R8T6W0YB5CDH", "token revoke laptop", aliases: ["rm"]
    ) { token, service, console in
        let id = try await token.id(on: service)
        try await console.print(service.send("DELETE", RequestPath("tokens", id)), as: .done("revoked", id))
    }
}

// MARK: - The token

private struct TokenDocument: Decodable, Sendable {
    var id: String
    var name: String?
    var scope: String
    var sessions: [String]?
    var quotas: Quotas
    var expiresAt: String?
    var lastUsedAt: String?
    var formerTokenUntil: String?
    /// The service returns it only at creation and rotation.
    var token: String?

    struct Quotas: Decodable, Sendable {
        var outstandingJobs: Int?
        var bytesPerDay: Int64?
        var concurrentTransfers: Int?
        var requestsPerSecond: Int?

        var line: String {
            [
                outstandingJobs.map { DisplayFormat.count($0, "outstanding job") },
                bytesPerDay.map { "\(DisplayFormat.bytes($0)) a day" },
                concurrentTransfers.map { "\(DisplayFormat.count($0, "transfer")) at once" },
                requestsPerSecond.map { "\(DisplayFormat.count($0, "request")) a second" },
            ].compactMap(\.self).joined(separator: ", ")
        }
    }
}

extension Output {
    /// Only the secret, for scripts.
    fileprivate static let tokenSecret = line { (token: TokenDocument) in token.token ?? "" }

    fileprivate static let token = Output { response, console in
        let token = try response.document(TokenDocument.self)
        var fields = FieldList()
        fields.add("token", token.id)
        fields.add("name", token.name)
        fields.add("scope", token.scope)
        fields.add("sessions", token.sessions?.joined(separator: ", ") ?? "all")
        fields.add("quotas", token.quotas.line)
        fields.add("expires", token.expiresAt.map(DisplayFormat.time) ?? "never")
        fields.add("old secret", token.formerTokenUntil.map { "accepted until \(DisplayFormat.time($0))" })
        fields.add("secret", token.token)
        try console.print(fields)
        if token.token != nil { console.say("Keep the secret: it is not shown again.") }
    }
}
