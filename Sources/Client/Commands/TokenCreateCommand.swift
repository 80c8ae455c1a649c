import ArgumentParser
import Foundation

struct TokenCreateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a token, and prints its secret.",
        discussion: """
            Each scope includes the ones before it. A 'read' token reads jobs, sessions, events and files; 'jobs' also creates \
            and changes jobs; 'sessions' also declares sessions and webhooks; 'admin' does everything, in all sessions.

            EXAMPLES:
              fetchd token create laptop --scope sessions
              fetchd token create films --scope jobs -s 'films*' --expires 90d
              fetchd token create --scope read --quiet
            """)

    @Argument(help: "A label for people, such as the name of the program that gets the token.")
    var name: String?

    @Option(help: "What the token allows.")
    var scope: ScopeArgument

    @Option(
        name: .shortAndLong, parsing: .singleValue,
        help: ArgumentHelp(
            "A session that the token is bound to, or a beginning of names, such as 'films*'; repeatable. (default: all sessions)",
            valueName: "session"), completion: .sessionNames)
    var session: [String] = []

    @Option(
        help: ArgumentHelp(
            "When the token expires: a time from now such as 12h, 90d or 2w, or a moment such as '2030-01-31 00:00' (local time) or 2030-01-31T00:00:00Z. (default: never)",
            valueName: "time"))
    var expires: ExpiryArgument?

    @OptionGroup(title: "Quotas") var quotas: TokenQuotaOptions

    @Flag(name: .shortAndLong, help: "Print only the secret.")
    var quiet = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        var members: [(name: String, value: JSONText)] = [("scope", .string(scope.rawValue))]
        if let name { members.append(("name", .string(name))) }
        if !session.isEmpty { members.append(("sessions", .array(session.map { .string($0) }))) }
        if let expires { members.append(("expires_at", .string(expires.time(from: Date())))) }
        if let quotas = quotas.document { members.append(("quotas", quotas)) }
        let answer = try await service.send("POST", RequestPath("tokens"), JSONText.object(members).bytes)
        try TokenDescription.show(answer, onlySecret: quiet, console)
    }
}
