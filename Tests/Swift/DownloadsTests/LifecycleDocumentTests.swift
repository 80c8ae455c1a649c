import Downloads
import Foundation
import TestKit
import Testing

/// docs/job-lifecycle.md specifies the state machines; each cell of its tables is checked here.
@Suite struct LifecycleDocumentTests {
    private let document: String

    init() throws {
        document = try String(contentsOfFile: Project.path("docs/job-lifecycle.md"), encoding: .utf8)
    }

    @Test func decidesEveryJobStateAndSignalAsDocumented() throws {
        let table = try MarkdownTable(firstColumn: "signal", containing: "promoting", in: document)
        #expect(table.rows.map(\.name) == Sample.signals.map(\.name))
        #expect(table.columns == Sample.states.map(\.name))
        for (row, signal) in zip(table.rows, Sample.signals) {
            for (cell, state) in zip(row.cells, Sample.states) {
                #expect(shown(state.value.transition(on: signal.value)) == cell, "\(state.name) on \(signal.name)")
            }
        }
    }

    @Test func decidesEveryBatchStateAndSignalAsDocumented() throws {
        let table = try MarkdownTable(firstColumn: "signal", containing: "due", in: document)
        #expect(table.rows.count == Sample.batchSignals.count)
        for (row, signal) in zip(table.rows, Sample.batchSignals) {
            #expect(row.name == signal.name)
            for (cell, state) in zip(row.cells, Sample.batchStates) {
                var batch = Batch(session: .default, number: 1, state: state, counts: signal.counts(state))
                if case .open = state { batch.imports = signal.openImports }
                let next = batch.transition(on: signal.value)?.state.name.rawValue ?? "-"
                #expect(next == cell, "\(state) on \(signal.name)")
            }
        }
    }

    @Test func decidesEveryDeliveryStateAndSignalAsDocumented() throws {
        let table = try MarkdownTable(firstColumn: "signal", containing: "pending", in: document)
        #expect(table.rows.map(\.name) == Sample.deliverySignals.map(\.name))
        #expect(table.columns == Sample.deliveryStates.map(\.name.rawValue))
        for (row, signal) in zip(table.rows, Sample.deliverySignals) {
            for (cell, state) in zip(row.cells, Sample.deliveryStates) {
                #expect(state.transition(on: signal.value)?.name.rawValue ?? "·" == cell, "\(state) on \(signal.name)")
            }
        }
    }

    @Test func decidesEveryWebhookStateAndSignalAsDocumented() throws {
        let table = try MarkdownTable(firstColumn: "signal", containing: "failing", in: document)
        #expect(table.rows.map(\.name) == Sample.webhookSignals.map(\.name))
        #expect(table.columns == Sample.webhookStates.map(\.name))
        for (row, signal) in zip(table.rows, Sample.webhookSignals) {
            for (cell, state) in zip(row.cells, Sample.webhookStates) {
                #expect(shown(state.value.transition(on: signal.value)) == cell, "\(state.name) on \(signal.name)")
            }
        }
    }

    private func shown(_ state: Webhook.State?) -> String {
        switch state {
        case nil: "·"
        case .enabled(nil)?: "enabled"
        case .enabled?: "failing"
        case .disabled?: "disabled"
        }
    }

    private func shown(_ decision: JobState.Decision) -> String {
        switch decision {
        case .become(let state, _, _): state.name.rawValue
        case .remain: "·"
        case .refuse: "-"
        }
    }
}

/// A table of a Markdown page, found by its heading row.
private struct MarkdownTable {
    struct Row {
        let name: String
        let cells: [String]
    }

    let columns: [String]
    let rows: [Row]

    init(firstColumn: String, containing column: String, in document: String) throws {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false).map { Self.cells(of: String($0)) }
        let heading = try #require(lines.firstIndex { $0.first == firstColumn && $0.contains(column) })
        columns = Array(lines[heading].dropFirst())
        rows = lines[(heading + 2)...].prefix { !$0.isEmpty }.map { Row(name: $0[0], cells: Array($0.dropFirst())) }
    }

    private static func cells(of line: String) -> [String] {
        guard line.hasPrefix("|") else { return [] }
        return line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
