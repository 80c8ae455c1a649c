/// Metrics as Prometheus reads them: the text format, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats).
struct Exposition {
    typealias Sample = (labels: [String: String], value: Double)

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    private(set) var text = ""

    /// Something that goes up and down.
    mutating func gauge(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "gauge", samples())
    }

    /// Something that only grows.
    mutating func counter(_ name: String, _ help: String, _ samples: () -> [Sample]) {
        add(name, help, type: "counter", samples())
    }

    private mutating func add(_ name: String, _ help: String, type: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for sample in samples {
            let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(
                separator: ",")
            text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
        }
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
