/// Removes secrets from messages of libpq and the server.
struct Redaction: Sendable {
    private let secrets: [String]

    /// - Parameter secrets: such as passwords; empty texts are ignored.
    init(_ secrets: [String] = []) { self.secrets = secrets.filter { !$0.isEmpty } }

    /// The first line of a message without the secrets. Further lines are details, hints and positions.
    func firstLine(of message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return secrets.reduce(line) { $0.replacing($1, with: "***") }
    }

    /// A message about a text that cannot be read. libpq quotes pieces of that text, which can be secret.
    static func withoutQuotations(_ message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.replacing(/"[^"]*"?/, with: "\"***\"")
    }
}
