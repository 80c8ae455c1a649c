import Foundation
import TestKit
import Testing

/// The program in a real terminal, and what it draws there.
@Suite struct TerminalTests {
    private func screen(_ child: ChildProcess, columns: Int = 100) -> TerminalScreen {
        var screen = TerminalScreen(columns: columns)
        screen.take(child.output)
        return screen
    }

    @Test func drawsBarsAndEndsThemAsLines() async throws {
        let cli = try await CommandLineScene()
        let child = try await cli.inTerminal(
            "add --wait \(cli.url("/held")) \(cli.url("/file")) \(cli.url("/missing"))", columns: 150)
        let lines = try await eventually("one running and two ended jobs on the screen") {
            let lines = screen(child, columns: 150).lines
            return lines.last?.hasPrefix("2 of 3 done; 1 not succeeded; 1 running, 0 to come") == true
                && lines.contains { $0.contains("50%") } ? lines : nil
        }
        let bar = try #require(lines.first { $0.contains("50%") })
        #expect(bar.hasPrefix("held ") && bar.contains("\u{2588}\u{2591}") && bar.contains("98 KiB of  195 KiB"))
        #expect(screen(child).hidesCursor)
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(1))
        let end = screen(child, columns: 150)
        #expect(!end.hidesCursor)
        #expect(end.lines.count == 4 && end.lines.last?.hasSuffix(" succeeded: held (195 KiB)") == true, "\(end.lines)")
        #expect(end.lines.contains { $0.contains(" failed: \(cli.url("/missing")): bad_status") })
        #expect(child.output.contains("\u{1B}[32m"))
    }

    @Test func drawsOnlyWhatFitsIntoSmallWindow() async throws {
        let cli = try await CommandLineScene()
        try await cli.api.declareSession("narrow", ["max_concurrent_jobs": 1])
        let order = cli.scene.order("/held", ("session", "narrow"))
        let batch = try await cli.api.post("/v1/jobs/batch", ["jobs": .array(Array(repeating: order, count: 20))])
        #expect(batch.status == 201)
        let child = try await cli.inTerminal("watch --session narrow", columns: 60, rows: 8)
        let lines = try await eventually("the bars on the screen") {
            let lines = screen(child, columns: 60).lines
            return lines.count == 7 && lines[0].contains("50%") ? lines : nil
        }
        #expect(lines[6].hasPrefix("0 of 20 done; 1 running, 19 to come"))
        #expect(lines.allSatisfy { $0.count < 60 })
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(0))
        #expect(screen(child, columns: 60).lines.count { $0.contains("succeeded: ") } == 20)
    }

    @Test func restoresCursorAfterControlC() async throws {
        let cli = try await CommandLineScene()
        let child = try await cli.inTerminal("add --wait \(cli.url("/held"))")
        _ = try await eventually("the bars on the screen") {
            screen(child).lines.first?.contains("50%") == true ? true : nil
        }
        let pid = try #require(
            cli.folder.bytes(of: "pid").flatMap { Int32(String(decoding: $0, as: UTF8.self).dropLast()) })
        kill(pid, SIGINT)
        #expect(try await child.waitForEnd() == .exited(130))
        let end = screen(child)
        #expect(!end.hidesCursor && end.lines.count == 2)
        #expect(end.lines[1].hasPrefix("The download continues in the service. To watch again: fetchd watch job_"))
    }

    /// A shell with job control, in a terminal; `$fetchd` is the program. The tests cannot end a job of such a shell,
    /// so it has to end by itself, also when a test fails.
    private func shell(_ script: String, _ cli: CommandLineScene) async throws -> ChildProcess {
        try cli.folder.write(
            "stty cols 100 rows 12; set -m\nfetchd=\(FetchdProcess.program)\n\(script)", to: "script.sh")
        return try await ChildProcess(
            "script", ["-qefc", "bash script.sh", "/dev/null"], environment: cli.environment,
            workingFolder: cli.folder.path)
    }

    /// Ctrl-Z restores the cursor, and `fg` draws the bars again.
    @Test func restoresCursorWhenStoppedAndRedrawsWhenContinued() async throws {
        let cli = try await CommandLineScene()
        _ = try await cli.scene.job(in: .running)
        let child = try await shell(
            "$fetchd watch --timeout 60 & echo $! > pid; fg; echo STOPPED; until [ -e on ]; do sleep 0.05; done; fg",
            cli)
        _ = try await eventually("the bars on the screen") {
            screen(child).hidesCursor && screen(child).lines.contains { $0.contains("50%") } ? true : nil
        }
        let pid = try #require(
            cli.folder.bytes(of: "pid").flatMap { Int32(String(decoding: $0, as: UTF8.self).dropLast()) })
        kill(pid, SIGTSTP)
        _ = try await eventually("the shell to continue") { child.output.contains("STOPPED") ? true : nil }
        #expect(!screen(child).hidesCursor)
        try cli.folder.write("", to: "on")
        _ = try await eventually("the bars to be drawn again") { screen(child).hidesCursor ? true : nil }
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(0), "\(child.output)")
        #expect(!screen(child).hidesCursor && child.output.contains("succeeded: held"))
    }

    /// Another program has the terminal: the command draws no bars, and prints a line for each job that ends.
    @Test func printsLinesOnlyInBackground() async throws {
        let cli = try await CommandLineScene()
        let held = try await cli.scene.job(in: .running)
        let child = try await shell("$fetchd watch --timeout 60 & wait $!", cli)
        _ = try await eventually("a failed job to be reported") {
            _ = try await cli.scene.job(in: .failed)
            return child.output.contains("/missing: bad_status") ? true : nil
        }
        cli.scene.gate.open()
        #expect(try await child.waitForEnd() == .exited(1))
        #expect(!child.output.contains("\u{1B}[?25l") && !child.output.contains("50%"), "\(child.output)")
        #expect(child.output.contains(held))
    }

    @Test func omitsColoursWithNOCOLOR() async throws {
        let cli = try await CommandLineScene()
        _ = try await cli.scene.job(in: .failed)
        let plain = try await cli.inTerminal("list")
        try await plain.waitForEnd()
        #expect(plain.output.contains("\u{1B}[31mfailed"))
        let line = "export NO_COLOR=1; exec \(FetchdProcess.program) list"
        let bare = try await ChildProcess.run("script", ["-qefc", line, "/dev/null"], environment: cli.environment)
        #expect(bare.output.contains("  failed: bad_status 404  ") && !bare.output.contains("\u{1B}"))
    }

    @Test func truncatesTableToWindow() async throws {
        let cli = try await CommandLineScene()
        let name = String(repeating: "long-", count: 30)
        try await cli.api.waitForJob(cli.api.submit(cli.scene.order("/\(name)")), .failed)
        let child = try await cli.inTerminal("list", columns: 80)
        #expect(try await child.waitForEnd() == .exited(0))
        let lines = screen(child, columns: 80).lines
        #expect(lines.count == 2 && lines[1].hasSuffix("-") && lines[1].contains("long-") && lines[1].count < 80)
        #expect(try await cli.run("list").output.contains(name))
    }

    @Test func getRefusesToWriteFileToTerminal() async throws {
        let cli = try await CommandLineScene()
        let id = try await cli.scene.job(in: .succeeded)
        let child = try await cli.inTerminal("get \(id)")
        #expect(try await child.waitForEnd() == .exited(64))
        #expect(child.output.contains("fetchd get -o PATH \(id)") && child.output.utf8.count < 400)
    }
}
