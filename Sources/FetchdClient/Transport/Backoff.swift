/// The pauses between attempts to reach a service that does not answer: from a tenth of a second, doubled up to 5 s.
struct Backoff: Sendable {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(5)
    private(set) var next = Backoff.first

    mutating func pause() async throws(FetchdError) {
        let pause = next
        next = min(next * 2, Self.longest)
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw .cancelled
        }
    }

    mutating func reset() { next = Self.first }
}
