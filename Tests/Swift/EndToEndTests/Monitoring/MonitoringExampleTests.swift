import Formats
import Foundation
import TestKit
import Testing

/// examples/prometheus and examples/grafana: they are valid, and use only metrics that exist.
@Suite struct MonitoringExampleTests {
    private static let folder = Project.path("examples/prometheus")

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: Project.path("examples/\(name)"), encoding: .utf8)
    }

    @Test(
        .enabled("needs promtool: run scripts/setup test") { await Promtool.isAvailable },
        arguments: [
            ["check", "rules", "fetchd.rules.yml"], ["test", "rules", "fetchd.rules.test.yml"],
            ["check", "config", "--syntax-only", "prometheus.yml"],
        ])
    func promtoolFindsNoFault(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run("promtool", arguments, workingFolder: Self.folder)
        #expect(outcome.succeeded, "\(outcome.output)\(outcome.errors)")
    }

    /// The names of metrics in the expressions of Prometheus' language: what labels name and strings hold is left out.
    private func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(fetchd|process)_[a-z_]+\b/).map { String($0.0) })
    }

    @Test func rulesUseOnlyMetricsThatExist() async throws {
        let exist = try await Scrape(of: try await Scene()).queryNames
        let used = metrics(in: try text("prometheus/fetchd.rules.yml"))
        #expect(used.count > 15 && used.subtracting(exist).isEmpty, "\(used.subtracting(exist))")
    }

    @Test func theDashboardUsesOnlyMetricsThatExistAndShowsAll() async throws {
        let scrape = try await Scrape(of: try await Scene())
        let used = metrics(in: try text("grafana/fetchd.json"))
        #expect(used.subtracting(scrape.queryNames).isEmpty, "\(used.subtracting(scrape.queryNames))")
        let unused = scrape.metrics.keys.filter { name in !used.contains { $0.hasPrefix(name) } }
        #expect(unused.isEmpty, "\(unused)")
    }

    /// Every expression of the dashboard is valid, as rules are.
    @Test(.enabled("needs promtool: run scripts/setup test") { await Promtool.isAvailable })
    func theExpressionsOfTheDashboardAreValid() async throws {
        let dashboard = try JSON(parsing: try text("grafana/fetchd.json"))
        let panels = dashboard["panels"].arrayValue ?? []
        let expressions = panels.flatMap { $0["targets"].arrayValue ?? [] }.compactMap { $0["expr"].stringValue }
        #expect(expressions.count > 30)
        let rules = expressions.enumerated().map { number, expression in
            let plain = expression.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*")
            return "  - record: fetchd:panel\(number)\n    expr: \(JSON.string(plain).written)\n"
        }
        let folder = try TemporaryFolder()
        let file = try folder.write("groups:\n- name: panels\n  rules:\n" + rules.joined(), to: "panels.yml")
        let outcome = try await Promtool.run("check", "rules", file)
        #expect(outcome.succeeded, "\(outcome.output)\(outcome.errors)")
    }

    @Test func theDocumentationSaysWhatToDoForEachAlert() throws {
        let rules = try text("prometheus/fetchd.rules.yml").matches(of: /- alert: (\w+)/).map { String($0.1) }
        let tests = try text("prometheus/fetchd.rules.test.yml")
        let page = try String(contentsOfFile: Project.path("docs/monitoring.md"), encoding: .utf8)
        #expect(page.matches(of: /\n\| `(Fetchd\w+)` \|/).map { String($0.1) }.sorted() == rules.sorted())
        // Each one is tested with a service that causes it, and with one that does not.
        for rule in rules {
            let pattern = try Regex("alertname: \(rule)\\b")
            #expect(tests.matches(of: pattern).count >= 2, "\(rule)")
        }
    }
}
