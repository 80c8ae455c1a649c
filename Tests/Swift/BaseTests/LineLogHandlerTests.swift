import Formats
import Logging
import Testing

@testable import Base

/// Tests that the log has one line a fact, in both formats, also when the texts contain line ends or control characters.
@Suite struct LineLogHandlerTests {
    private let lines = Locked<[[UInt8]]>([])
    private let level = LogLevel(.info)

    private func logger(_ format: LogFormat) -> Logger {
        Logger(label: "test") { [lines, level] _ in
            LineLogHandler(format, from: level, to: LogOutput { line in lines.withLock { $0.append(line) } })
        }
    }

    private var written: String { lines.withLock { String(decoding: $0.joined(), as: UTF8.self) } }

    @Test func writesTimeLevelSourceMessageAndFieldsForPeople() throws {
        logger(.text).warning("The disk is full.", metadata: ["job": "job_1", "code": "no_space"], source: "Engine")
        let (time, rest) = try #require(split(written))
        #expect(time.hasSuffix("Z") && time.utf8.count == 24)
        #expect(rest == "warning [Engine] The disk is full. code=no_space job=job_1\n")
    }

    @Test func writesOneObjectALineForMachines() throws {
        logger(.json).error(
            "It failed.",
            metadata: [
                "job": "job_1", "attempt": .stringConvertible(2), "seconds": .stringConvertible(0.5),
                "ok": .stringConvertible(true), "names": ["a", "b"], "of": ["b": "2", "a": "1"],
            ],
            source: "Engine")
        var line = try #require(try JSON(parsing: written).objectValue)
        #expect(line["time"]?.stringValue?.utf8.count == 24)
        line["time"] = nil
        #expect(
            JSON.object(line) == [
                "level": "error", "message": "It failed.", "source": "Engine", "job": "job_1", "attempt": 2,
                "seconds": 0.5, "ok": true, "names": ["a", "b"], "of": ["a": "1", "b": "2"],
            ])
    }

    /// Line ends, terminal controls (ESC, and CSI as one character), DEL, NUL, directions, separators, and bytes that
    /// are not UTF-8.
    private static let hostile =
        "a\nfake\r\u{1B}[31mred\u{9B}0m\u{7F}\u{0}\u{2028}\u{2029}\u{202E}\u{2066}\u{85}\u{B}\t\"\\="
        + String(decoding: [0x66, 0xFF, 0xC3, 0x0A], as: UTF8.self)

    @Test(arguments: LogFormat.allCases) func aTextCannotForgeALineOrControlATerminal(_ format: LogFormat) throws {
        logger(format).info("\(Self.hostile)", metadata: ["address": "\(Self.hostile)"])
        let text = written
        #expect(text.hasSuffix("\n"))
        let line = text.dropLast()
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .format })
        #expect(!line.unicodeScalars.contains { ["\u{2028}", "\u{2029}"].contains($0) })
        guard format == .json else { return }
        let parsed = try JSON(parsing: String(line))
        #expect(parsed["message"].stringValue == Self.hostile && parsed["address"].stringValue == Self.hostile)
    }

    /// A field cannot pretend to be another one: the text format puts values with blanks or quotes into quotes.
    @Test func aValueCannotForgeAField() {
        logger(.text).info("x", metadata: ["path": "/a job=job_2", "name": "say \"no\"", "none": ""], source: "API")
        #expect(written.hasSuffix(#"[API] x name="say \"no\"" none="" path="/a job=job_2""# + "\n"))
    }

    @Test func followsTheLevelWhileItChanges() {
        let log = logger(.text)
        log.debug("one")
        level.level = .debug
        log.debug("two")
        level.level = .error
        log.warning("three")
        #expect(written.contains("two") && !written.contains("one") && !written.contains("three"))
    }

    @Test(arguments: Logger.Level.allCases) func keepsEveryLevel(_ level: Logger.Level) {
        #expect(LogLevel(level).level == level)
    }

    @Test func addsTheFieldsOfTheLoggerAndTheError() {
        struct Broken: Error {}
        var log = logger(.text)
        log[metadataKey: "session"] = "films"
        log.info("x", error: Broken(), metadata: ["job": "job_1"], source: "Engine")
        #expect(written.hasSuffix("x error=Broken() job=job_1 session=films\n"))
    }

    private func split(_ line: String) -> (time: String, rest: String)? {
        let parts = line.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
}

extension JSON {
    fileprivate subscript(name: String) -> JSON { objectValue?[name] ?? .null }
}
