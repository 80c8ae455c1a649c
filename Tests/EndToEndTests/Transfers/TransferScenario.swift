/// A server as a row of docs/transfers.md names it, and how that is brought about.
struct TransferScenario: Sendable {
    let name: String
    /// Whether this machine has what it needs.
    let isPossible: Bool
    let perform: @Sendable (Trial) async throws -> Trial.Ending

    init(
        _ name: String, if isPossible: Bool = true,
        _ perform: @escaping @Sendable (Trial) async throws -> Trial.Ending
    ) {
        self.name = name
        self.isPossible = isPossible
        self.perform = perform
    }

    /// By the titles of the page's sections. What takes its time comes first when they are run.
    static let sections: [(title: String, scenarios: [TransferScenario])] = [
        ("A download that begins", beginning), ("A download that goes on", goingOn),
        ("Digests", digests), ("Several connections", several), ("Redirects", redirects), ("Time", time),
        ("Crashes", crashes),
    ]
}
