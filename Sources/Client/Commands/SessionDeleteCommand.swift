import ArgumentParser
import Foundation

struct SessionDeleteCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes a session. Downloaded files stay.",
        discussion: """
            The session takes no more jobs. Its unfinished jobs end first, or --cancel cancels them; then the session is \
            deleted.

            EXAMPLES:
              fetchd session delete photos
              fetchd session delete --cancel photos
            """, aliases: ["rm"])

    @Argument(help: "The session.", completion: .sessionNames) var name: String
    @Flag(help: "Cancel the unfinished jobs.") var cancel = false
    @OptionGroup(title: "The service") var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let path = RequestPath("sessions", name).asking("outstanding", cancel ? "cancel" : nil)
        let answer = try await service.send("DELETE", path)
        guard answer.status == 202 else {
            return try console.isJSON
                ? console.print(.object([("deleted", .array([.string(name)]))])) : console.print("\(name) deleted")
        }
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let session = try answer.document(SessionDocument.self)
        try console.print(
            "\(name) is finishing: \(SessionDescription.counts(session)). The service deletes it after its last batch and deliveries."
        )
    }
}
