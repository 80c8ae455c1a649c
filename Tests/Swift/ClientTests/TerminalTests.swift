import Base
import TestKit
import Testing

@testable import Client

/// Terminal output, as a terminal would show it.
@Suite struct TerminalTests {
    /// Neither colours nor Unicode, as the tests' output is no terminal.
    private let plain = Terminal(.standardError, environment: ["LANG": "C"])
    private let unicode = Terminal(.standardError, environment: ["LANG": "C.UTF-8", "LC_ALL": ""])

    @Test func replacesControlCharactersInNames() {
        #expect(Printable("a\u{1B}[2Jb\nc\u{202E}d\u{7}").description == "a?[2Jb?c?d?")
        #expect(Printable("Ärger 映画 \u{1F600}").description == "Ärger 映画 \u{1F600}")
        #expect(Printable("Ärger", isUnicode: false).description == "?rger")
    }

    @Test func countsAndFitsColumns() {
        #expect(Columns.count("映画.mkv") == 8)
        #expect(Columns.count("e\u{301}") == 1)
        #expect(Columns.fitted("film.mkv", to: 10) == "film.mkv  ")
        #expect(Columns.fitted("a-very-long-name.mkv", to: 12) == "a-very-..mkv")
        for width in 0...20 {
            #expect(Columns.count(Columns.fitted("映画映画映画映画映画", to: width)) == width)
            #expect(Columns.count(Columns.fitted("abcdefghijklmnopqrstuvwxyz", to: width)) == width)
        }
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_048_576, "1.0 MiB"), (10_485_760, "10 MiB"),
        (1_047_552, "1.0 MiB"), (5_368_709_120, "5.0 GiB"), (Int64.max, "8.0 EiB"),
    ])
    func formatsByteCount(_ count: Int64, _ text: String) { #expect(DisplayFormat.bytes(count) == text) }

    @Test(arguments: [
        (0.0, "0:00"), (6.2, "0:07"), (62, "1:02"), (3723, "1:02:03"), (183_600, "2d 03h"), (1e300, "115740d 17h"),
    ])
    func formatsDuration(_ seconds: Double, _ text: String) { #expect(DisplayFormat.duration(seconds) == text) }

    @Test func roundsPercentDown() {
        #expect(
            DisplayFormat.percent(0.9999) == "99%" && DisplayFormat.percent(1) == "100%"
                && DisplayFormat.percent(-1) == "0%")
    }

    @Test(arguments: 20...200) func barFitsWidth(_ columns: Int) throws {
        for name in ["film.mkv", "映画映画映画映画映画映画映画映画映画映画映画映画映画.mkv"] {
            var tracker = JobTracker()
            _ = tracker.put(try Sample.job("job_1", name: name))
            let before = ProgressBar(tracker.jobs[0], on: unicode).line(columns: columns)
            tracker.apply(try Sample.progress("job_1", 5_242_880, of: 10_485_760))
            let line = ProgressBar(tracker.jobs[0], on: unicode).line(columns: columns)
            #expect(Columns.count(line) < max(columns, 21) && Columns.count(before) < max(columns, 21))
            #expect(line.contains("50%"))
            // Most terminals have 80 columns.
            if columns >= 80 { #expect(line.contains("[\u{2588}\u{2588}\u{2588}\u{2588}\u{2588}")) }
            if columns >= 100 {
                #expect(line.contains("5.0 MiB of   10 MiB     1.0 MiB/s 1:02"))
                let (full, empty) = (line.count { $0 == "\u{2588}" }, line.count { $0 == "\u{2591}" })
                #expect(full > 10 && (0...1).contains(empty - full))
            }
        }
    }

    /// Lines of ended jobs scroll up above the bars, and no text of a server can control the terminal.
    @Test func replacesControlCharactersInLines() throws {
        let report = BarReport(Console(isJSON: false), of: Locked(JobTracker()))
        let job = try Sample.job("job_\\u001b[2J", "failed", name: "\\u001b[1mx", members: Sample.failure)
        for change in [JobTracker.Change.stateChanged(job), .remarked(job, "\u{1B}c"), .deleted(job)] {
            let text = report.lines(for: change).joined()
            #expect(text.contains("job_?[2J") && !text.contains("\u{1B}"), "\(text)")
        }
    }

    @Test func drawsBarInASCIIWithoutUnicode() throws {
        let line = ProgressBar(try Sample.job(), on: plain).line(columns: 100)
        #expect(line.contains("[------") && line.utf8.count == line.count)
    }

    @Test func showsRunningJobsFirstWhenRowsAreFew() throws {
        var tracker = JobTracker()
        for number in 1...40 { _ = tracker.put(try Sample.job("job_\(number)", number > 37 ? "running" : "queued")) }
        let lines = BarReport.lines(of: tracker, on: plain, in: (80, 10))
        #expect(lines.count == 9)
        // Running jobs come first.
        #expect(lines.prefix(3).allSatisfy { !$0.contains("queued") } && lines[3].contains("queued"))
        #expect(lines[8] == "0 of 40 done; 3 running, 37 to come; 32 not shown")
        #expect(BarReport.lines(of: JobTracker(), on: plain, in: (80, 10)).isEmpty)
    }

    @Test func replacesPreviousPicture() {
        var frame = Frame()
        var screen = TerminalScreen(columns: 20)
        screen.take(frame.picture(of: ["one", "two"], below: [], columns: 20))
        screen.take(frame.picture(of: ["one!"], below: ["two is done"], columns: 20))
        #expect(screen.lines == ["two is done", "one!"] && screen.hidesCursor)
        // In a narrower window the earlier lines have wrapped, and are replaced all the same.
        screen.take(frame.picture(of: ["a line of 17 long"], below: [], columns: 20))
        screen.resize(to: 10)
        screen.take(frame.picture(of: ["short"], below: [], columns: 10))
        #expect(screen.lines == ["two is don", "e", "short"])
        screen.take(frame.picture(of: [], below: ["one is done"], columns: 10) + frame.ending())
        #expect(screen.lines == ["two is don", "e", "one is don", "e"] && !screen.hidesCursor)
        #expect(frame.ending() == "")
    }

    @Test func alignsTableColumns() throws {
        let rows = [["job_1", "1.0 MiB", "a name that is longer than the rest"], ["job_22", "7 B", "b"]]
        let table = Table(
            rows, [.init("ID") { $0[0] }, .init("SIZE", isRightAligned: true) { $0[1] }, .init("NAME") { $0[2] }])
        let whole = table.lines(on: plain, width: nil)
        #expect(whole[0] == "ID         SIZE  NAME")
        #expect(whole[1] == "job_1   1.0 MiB  a name that is longer than the rest")
        #expect(whole[2] == "job_22      7 B  b")
        #expect(table.lines(on: plain, width: 40).allSatisfy { Columns.count($0) < 40 })
    }

    /// A narrow window drops columns instead of wrapping lines; identifier, state and name stay.
    @Test(arguments: [60, 66, 72, 80, 100]) func dropsTableColumnsInNarrowWindow(_ width: Int) throws {
        let id = "job_01HZX3K9V7Q2N4R8T6W0YB5CDE"
        let jobs = [try Sample.job(id, "succeeded", members: Sample.file)]
        let lines = Table.jobs(jobs).lines(on: plain, width: width)
        #expect(lines.allSatisfy { Columns.count($0) < width }, "\(lines)")
        #expect(lines[1].hasPrefix("\(id)  succeeded") && lines[0].hasSuffix("  NAME") && lines[1].contains("film"))
        #expect(lines[0].contains("SESSION") == (width >= 80))
    }

    /// Where an identifier and a state leave no room for a name, the name has a line of its own.
    @Test(arguments: [20, 50, 58]) func printsNamesOnLinesOfTheirOwnInNarrowWindow(_ width: Int) throws {
        let id = "job_01HZX3K9V7Q2N4R8T6W0YB5CDE"
        let jobs = [
            try Sample.job(id, "waiting", name: "a-name-of-some-length.mkv", members: #","reason":"credentials""#)
        ]
        let lines = Table.jobs(jobs).lines(on: plain, width: width)
        #expect(lines.count == 3 && lines[1] == "\(id)  waiting: credentials" && !lines[0].contains("NAME"))
        #expect(Columns.count(lines[2]) < width && lines[2].hasPrefix("  a-name-of") && lines[2].hasSuffix(".mkv"))
        #expect(width < 50 || lines[2] == "  a-name-of-some-length.mkv")
    }

    @Test func listsTheReasonOfAFailure() throws {
        let lost = #","failure":{"code":"connection_lost","message":"The connection was lost.","status":206}"#
        let jobs = [
            try Sample.job("job_1", "failed", members: Sample.failure),
            try Sample.job("job_2", "failed", members: lost),
        ]
        let lines = Table.jobs(jobs).lines(on: plain, width: nil)
        #expect(lines[1].hasPrefix("job_1  failed: bad_status 404 ") && lines[2].contains("failed: connection_lost "))
    }
}
