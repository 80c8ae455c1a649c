import TestKit

extension APIClient {
    /// The value of one series in `/metrics`, by its name and all of its labels; nil if it does not exist.
    func metric(_ name: String, _ labels: [String: String] = [:]) async throws -> Double? {
        let list = labels.sorted { $0.key < $1.key }.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        let series = labels.isEmpty ? "\(name) " : "\(name){\(list)} "
        let lines = try await get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(series) }.flatMap { Double($0.dropFirst(series.count)) }
    }
}
