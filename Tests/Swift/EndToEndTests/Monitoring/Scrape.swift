import TestKit

/// The answer of `/metrics`: each metric with its type, its labels and its values.
struct Scrape {
    struct Metric {
        var type: String
        /// The names of the labels of its series, without `le`.
        var labels: Set<String> = []
    }

    let text: String
    private(set) var metrics: [String: Metric] = [:]
    /// The values by series, as they are written: `name{label="value"}`.
    private(set) var values: [String: Double] = [:]

    init(of api: APIClient) async throws {
        let answer = try await api.get("/metrics")
        guard answer.status == 200 else { throw Overdue("the metrics: \(answer)") }
        self.init(text: answer.text)
    }

    /// The scene stays until the service has answered.
    init(of scene: Scene) async throws {
        self = try await Scrape(of: scene.api)
        withExtendedLifetime(scene) {}
    }

    init(text: String) {
        self.text = text
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE "), words.count == 4 {
                metrics[String(words[2])] = Metric(type: String(words[3]))
            } else if !line.hasPrefix("#"), let end = line.lastIndex(of: " ") {
                add(String(line[..<end]), Double(line[line.index(after: end)...]))
            }
        }
    }

    private mutating func add(_ series: String, _ value: Double?) {
        values[series] = value
        let name = String(series.prefix { $0 != "{" })
        let parts = ["_bucket", "_sum", "_count"].filter(name.hasSuffix).map { String(name.dropLast($0.count)) }
        let metric = ([name] + parts).first { metrics[$0] != nil } ?? name
        for match in series.matches(of: /([a-z_]+)="/) where match.1 != "le" {
            metrics[metric]?.labels.insert(String(match.1))
        }
    }

    /// The value of a series, and 0 if there is none.
    subscript(series: String) -> Double { values[series] ?? 0 }

    /// The names that queries use: of histograms, those of their series.
    var queryNames: Set<String> {
        metrics.reduce(into: []) { names, metric in
            let parts = metric.value.type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
            for part in parts { names.insert(metric.key + part) }
        }
    }
}
