import ArgumentParser
import Foundation

struct SessionShowCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows the state of a session.",
        discussion: """
            EXAMPLES:
              fetchd session show photos
            """)

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        try SessionDescription.show(await service.send("GET", RequestPath("sessions", name)), console)
    }
}
