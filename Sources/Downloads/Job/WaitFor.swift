/// What a job waits for instead of failing, where its client, or its session, says so. `space` is a disk that has no room, and
/// a downloads folder that does not work.
public enum WaitFor: String, Sendable, Codable, CaseIterable {
    case credentials, url, space

    public static let defaults: [WaitFor] = [.space]
}
