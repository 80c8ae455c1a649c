import Metrics

/// Metrics in the Prometheus text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct Exposition {
    typealias Sample = (labels: [String: String], value: Double)

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private(set) var text = ""

    /// Adds a metric whose value can rise and fall.
    mutating func gauge(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "gauge", samples())
    }

    /// Adds a metric with one value; nothing if the value is not known.
    mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
        if let value { gauge(name, help) { [([:], value)] } }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Int?) { gauge(name, help, value.map { Double($0) }) }

    /// Adds a metric whose value only rises.
    mutating func counter(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "counter", samples())
    }

    /// Adds a distribution of values. In this format, each bucket also counts the values of the buckets before it.
    mutating func histogram(_ name: String, _ help: String, _ samples: [(labels: [String: String], value: Histogram)]) {
        announce(name, help, type: "histogram")
        for (labels, histogram) in samples {
            var total = 0
            for (bound, count) in zip(histogram.bounds.map(Self.number) + ["+Inf"], histogram.counts) {
                total += count
                add("\(name)_bucket", (labels.merging(["le": bound]) { $1 }, Double(total)))
            }
            add("\(name)_sum", (labels, histogram.sum))
            add("\(name)_count", (labels, Double(total)))
        }
    }

    private mutating func add(_ name: String, _ help: String, type: String, _ samples: [Sample]) {
        announce(name, help, type: type)
        for sample in samples { add(name, sample) }
    }

    private mutating func announce(_ name: String, _ help: String, type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func add(_ name: String, _ sample: Sample) {
        let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(
            separator: ",")
        text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
