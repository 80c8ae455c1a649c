import ArgumentParser
import Foundation

struct SessionListCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists all sessions, by name.",
        discussion: """
            EXAMPLES:
              fetchd session list
              fetchd session list --quiet
            """, aliases: ["ls"])

    @Flag(name: .shortAndLong, help: "Print only names.")
    var quiet = false

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let answer = try await service.send("GET", RequestPath("sessions"))
        let sessions = try answer.document(SessionListDocument.self).sessions
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        if quiet { return try console.out.write(sessions.map { $0.id + "\n" }.joined()) }
        var table = Table(
            .init(title: "SESSION"), .init(title: "STATE"), .init(title: "BATCH", isRightAligned: true),
            .init(title: "UNACKNOWLEDGED SINCE"), .init(title: "JOBS"))
        for session in sessions {
            table.add(
                .init(session.id), .init(session.state, state: session.state), .init("\(session.batch)"),
                .init(session.unacknowledgedSince.map(DisplayFormat.time) ?? ""),
                .init(SessionDescription.counts(session)))
        }
        try console.print(table)
    }
}
