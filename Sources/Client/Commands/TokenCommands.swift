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
        "A location that the token is bound to: its jobs can put files nowhere else; repeatable. (default: all locations)",
        "name")
    var location: [String] = []

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
        members.set("locations", location)
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
        try console.print(
            response.text, response.list("tokens"), onlyIDs: operands.quiet,
            empty: "No tokens. To create one: fetchd token create --scope admin",
            columns: [
                .init("TOKEN", "id"), .init("NAME", "name"), .init("SCOPE", "scope"),
                .init("LAST USED", .time("last_used_at"), or: "never", isDispensable: true),
                .init("EXPIRES", .time("expires_at"), or: "never"), .init("QUOTAS", .quotas, isDispensable: true),
                .init("SESSIONS", "sessions", or: "all"),
            ])
    }
}

struct TokenName: ParsableArguments {
    @Argument(help: "The identifier or the name of the token.", completion: .tokenIDs) var token: String

    func id(on service: RemoteService) async throws(ClientError) -> String {
        guard !token.hasPrefix("tok_") else { return token }
        let tokens = try await service.send("GET", RequestPath("tokens")).list("tokens")
        let ids = tokens.filter { $0.shown("name") == token }.compactMap { $0.shown("id") }
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

extension Member {
    fileprivate static let quotas = joined(
        .number("quotas.outstanding_jobs") { DisplayFormat.count(Int($0), "outstanding job") },
        .number("quotas.bytes_per_day") { "\(DisplayFormat.bytes($0)) a day" },
        .number("quotas.concurrent_transfers") { "\(DisplayFormat.count(Int($0), "transfer")) at once" },
        .number("quotas.requests_per_second") { "\(DisplayFormat.count(Int($0), "request")) a second" })
}

extension Output {
    fileprivate static let tokenSecret = Output { try $1.print($0.text["token"]?.stringValue ?? "") }

    fileprivate static let token = fields(
        [
            "token": "id", "name": "name", "scope": "scope", "sessions": Member { $0.shown("sessions") ?? "all" },
            "locations": Member { $0.shown("locations") ?? "all" }, "quotas": .quotas,
            "expires": Member { $0.shown("expires_at").map(DisplayFormat.time) ?? "never" },
            "old secret": Member { $0.shown("former_token_until").map { "accepted until \(DisplayFormat.time($0))" } },
            "secret": "token",
        ], secret: "token")
}
