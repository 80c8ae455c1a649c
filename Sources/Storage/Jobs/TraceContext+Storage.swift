import HTTPSemantics

/// The column `jobs.trace`.
extension TraceContext {
    var stored: String { state.map { "\(parent) \($0)" } ?? parent }

    init?(stored text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let parent = parts.first else { return nil }
        self.init(parent: String(parent), state: parts.count > 1 ? String(parts[1]) : nil)
    }
}
