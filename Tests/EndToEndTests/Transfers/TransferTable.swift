import Foundation
import Testing

/// The tables of docs/transfers.md: what servers do, and what comes of it.
struct TransferTable {
    /// One server, and what a download from it is documented to end with.
    struct Row: Equatable {
        let name: String
        let outcome: TransferOutcome
    }

    /// Of the section that the table is in.
    let title: String
    let rows: [Row]

    private static let columns = ["ends as", "decision", "why", "on disk", ""]

    /// Those with these columns, by section.
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

    /// What stands between the bars; nothing for a line that is no row.
    private static func cells(of line: String) -> [String] {
        guard line.hasPrefix("|"), line.hasSuffix("|") else { return [] }
        return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
