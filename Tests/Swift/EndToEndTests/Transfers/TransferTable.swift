import Foundation
import TestKit
import Testing

/// The tables of docs/transfers.md: servers, and the outcomes of downloads from them.
struct TransferTable {
    /// One server, and the documented outcome of a download from it.
    struct Row: Equatable {
        let name: String
        let outcome: TransferOutcome
    }

    /// The title of the table's section.
    let title: String
    let rows: [Row]

    private static let columns = ["ends as", "decision", "why", "on disk", ""]

    /// The tables with these columns, by section.
    static func all() throws -> [TransferTable] {
        let page = try String(contentsOfFile: Project.path("docs/transfers.md"), encoding: .utf8)
        return page.components(separatedBy: "\n## ").dropFirst().compactMap { section in
            let lines = section.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard let heading = lines.firstIndex(where: { cells(of: $0).dropFirst().elementsEqual(columns) }) else {
                return nil
            }
            let rows = lines[(heading + 2)...].map(cells(of:)).prefix { !$0.isEmpty }
            return TransferTable(title: lines[0], rows: rows.map(row))
        }
    }

    private static func row(_ cells: [String]) -> Row {
        Row(
            name: cells[0],
            outcome: TransferOutcome(state: cells[1], decision: cells[2], why: cells[3], bytes: cells[4]))
    }

    /// The texts between the bars; empty for a line that is no row.
    private static func cells(of line: String) -> [String] {
        guard line.hasPrefix("|"), line.hasSuffix("|") else { return [] }
        return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
