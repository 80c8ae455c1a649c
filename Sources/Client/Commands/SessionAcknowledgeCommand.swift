import ArgumentParser
import Foundation

struct SessionAcknowledgeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge", abstract: "Acknowledges the finished batches of a session.",
        discussion: """
            Acknowledges every finish up to the event of --through, or up to the session's last event.

            EXAMPLES:
              fetchd session acknowledge photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String

    @Option(help: ArgumentHelp("The number of an event. (default: the session's last)", valueName: "number"))
    var through: Int64?

    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", name)
        let last =
            if let through { through } else {
                try await service.send("GET", path).document(SessionDocument.self).lastEvent
            }
        let body = JSONText.object([("through", JSONText(JSONText.written(last)))])
        let answer = try await service.send("POST", RequestPath("sessions", name, "acknowledge"), Array(body.bytes))
        try SessionDescription.show(answer, console)
    }
}
