/// The conditions for which a job can wait instead of failing, if the job or its session lists them. `space` covers a
/// full disk and a downloads folder that does not work.
public enum WaitFor: String, Sendable, Codable, CaseIterable {
    case credentials, url, space

    public static let defaults: [WaitFor] = [.space]
}
