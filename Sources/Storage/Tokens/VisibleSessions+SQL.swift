import Downloads

extension VisibleSessions {
    /// The condition that the column names a visible session, with its arguments; nil if all sessions are visible.
    func condition(on column: String) -> (sql: String, arguments: [String])? {
        guard case .matching(let patterns) = self else { return nil }
        guard !patterns.isEmpty else { return ("0 = 1", []) }
        var arguments: [String] = []
        let conditions = patterns.map { pattern in
            guard let beginning = pattern.beginning else {
                arguments.append(pattern.text)
                return "\(column) = ?"
            }
            // No name contains `~`, and all of its characters come before `~`.
            arguments += [beginning, beginning + "~"]
            return "(\(column) >= ? AND \(column) < ?)"
        }
        return ("(\(conditions.joined(separator: " OR ")))", arguments)
    }
}
