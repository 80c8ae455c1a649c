import Foundation
import TestKit
import Testing

/// docs/from-aria2.md and the table of differences.
@Suite struct Aria2DocumentTests {
    @Test func thePageHasTheTableOfDifferences() async throws {
        let table = try await ChildProcess.run(Project.python, [Project.path("Tests/Aria2/compare.py"), "--table"])
        #expect(table.succeeded)
        let page = try String(contentsOf: Project.root.appending(path: "docs/from-aria2.md"), encoding: .utf8)
        #expect(page.contains(table.output), "Insert the output of compare.py --table into docs/from-aria2.md.")
    }
}
