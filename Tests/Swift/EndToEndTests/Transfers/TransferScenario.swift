/// A server as named by a row of docs/transfers.md, and how the test produces it.
struct TransferScenario: Sendable {
    let name: String
    /// Whether this machine has the required programs.
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

    /// The scenarios by the titles of the page's sections.
    static let sections: [(title: String, scenarios: [TransferScenario])] = [
        ("A download that begins", beginning), ("A download that goes on", goingOn), ("Equal bytes", evidence),
        ("Digests", digests), ("Several connections", several), ("Redirects", redirects), ("Time", time),
        ("Crashes", crashes),
    ]
}
