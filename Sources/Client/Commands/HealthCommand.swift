import ArgumentParser

struct HealthCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Exits with status 0 if the service is ready.",
        discussion: """
            For container engines and scripts. The command sends GET /readyz, which needs no token. If the service is not \
            ready, it prints the reason and exits with status 69. It waits for five seconds at most.

            EXAMPLES:
              fetchd health
              fetchd health --json
            """)

    private struct Readiness: Decodable {
        var status: String
    }

    @OptionGroup(title: "The service")
    var service: ServiceOptions

    func perform(with service: RemoteService, _ console: Console) async throws {
        let patience = self.service.patience?.seconds ?? 5
        let answer = try await service.limited(to: .seconds(patience)).send("GET", .readiness)
        let readiness = try answer.document(Readiness.self)
        guard readiness.status == "ready" else {
            throw ClientError.strange(service.address, "the status of /readyz is '\(Printable(readiness.status))'")
        }
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        try console.print("ready")
    }
}
