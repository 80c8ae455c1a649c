import Foundation
import Testing

@testable import Downloads

/// Filenames from servers are sanitised; those from clients are checked.
@Suite struct FilenameTests {
    @Test(arguments: [
        ("attachment; filename=\"report.pdf\"", "report.pdf"), ("attachment; filename=report.pdf", "report.pdf"),
        ("inline; foo=bar; filename = \"a b.txt\" ; x=y", "a b.txt"),
        ("attachment; filename=\"fallback.txt\"; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
        ("attachment; filename*=iso-8859-1'en'%A3.txt", "£.txt"), ("attachment; filename=\"a\\\"b.txt\"", "a\"b.txt"),
        ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"C:\\dir\\x.exe\"", "x.exe"),
        ("attachment; filename=\".bashrc\"", "bashrc"), ("attachment; filename=\"CON.txt\"", "_CON.txt"),
        ("attachment; filename=\"a\u{202E}cod.exe\"", "acod.exe"), ("attachment; filename=\"name. . \"", "name"),
        ("attachment; filename=\". .x\"", "x"), ("attachment; filename=\"x.part\"", "x.part_"),
        // Swift combines a separator and a following mark into another character; the kernel sees a separator.
        ("attachment; filename=\"a/\u{301}evil\"", "\u{301}evil"), ("attachment; filename=\"/\u{301}x\"", "\u{301}x"),
        ("attachment; filename=\"a\\\u{301}b\"", "\u{301}b"), ("attachment; filename=\".\u{301}hid\"", "\u{301}hid"),
    ])
    func takesSanitisedNameFromContentDisposition(_ header: String, _ name: String) {
        let url = "https://host/other"
        #expect(SuggestedFilename.from(contentDisposition: header, url: url) == name)
        let filled = FilenameTemplate.suggested.name(
            contentDisposition: header, url: url, finalURL: url, job: JobID("job_1"), at: Sample.now)
        #expect(filled == name)
    }

    @Test(arguments: [
        ("https://host/a/b.bin?sig=1", "b.bin"), ("https://host/a%20b.txt", "a b.txt"), ("https://host/", "download"),
        ("https://host", "download"), ("https://host/a%2Fb", "b"), ("https://host/..", "download"),
        ("https://host/a%20b%20é.txt", "a b é.txt"), ("https://host/é%", "é%"), ("https://host/a%E9.txt", "a%E9.txt"),
        ("https://host:80/a:b.txt#c/d", "a:b.txt"), ("https://host:80", "download"), ("https://host?a/b", "download"),
        ("https://user:a@host/x", "x"), ("https://[::1]/é/", "download"),
        ("rehearse:film%20é.mkv?size=1", "film é.mkv"),
    ])
    func takesLastComponentOfURL(_ url: String, _ name: String) {
        #expect(SuggestedFilename.from(contentDisposition: nil, url: url) == name)
    }

    @Test func fallsBackToURLWhenHeaderIsUnusable() {
        #expect(SuggestedFilename.from(contentDisposition: "attachment; filename=\"..\"", url: "https://h/f") == "f")
        #expect(SuggestedFilename.from(contentDisposition: "attachment", url: "https://h/f") == "f")
        let signed = "attachment; filename*=iso-8859-1'en'%+5.txt"
        #expect(SuggestedFilename.from(contentDisposition: signed, url: "https://h/f") == "f")
    }

    @Test func keepsExtensionOfLongName() {
        let name = SuggestedFilename.from(
            contentDisposition: nil, url: "https://h/" + String(repeating: "é", count: 300) + ".tar")
        #expect(name.utf8.count <= 240)
        #expect(name.hasSuffix(".tar"))
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "a\\b", "a\0b", "tab\tname", "x.part", "nul", "LPT1.txt", "end.", " lead",
        "trail ", "rtl\u{202E}", "a/\u{301}b", "/\u{301}b", "a\\\u{301}b", ".\u{301}b", "..\u{301}", "a\u{A0}",
        "\u{3000}",
        String(repeating: "x", count: 256),
    ])
    func refusesUnsafeName(_ name: String) {
        #expect(FilePathRule.fault(inFilename: name) != nil)
    }

    @Test(arguments: ["a", "video (1).mp4", "naïve.txt", "a..b", "日本語.bin", String(repeating: "x", count: 255)])
    func acceptsSafeName(_ name: String) {
        #expect(FilePathRule.fault(inFilename: name) == nil)
    }

    @Test(arguments: [
        "/\u{301}abs", "a/../\u{301}b", "../\u{301}b", "a//\u{301}b/", "a/.\u{301}b", "/abs", "a//b", "a/", "../x",
        "a/../b", ".incomplete", "a/./b",
    ])
    func refusesUnsafeDirectory(_ path: String) {
        #expect(FilePathRule.fault(inDirectory: path) != nil)
    }

    /// A client's name is used as it is; names from servers leave room for a number.
    @Test func keepsClientNameWithoutPlaceholders() throws {
        func filled(_ template: String) throws -> String {
            try #require(FilenameTemplate(template)).name(
                contentDisposition: "attachment; filename=\(String(repeating: "s", count: 300)).bin",
                url: "https://h/f", finalURL: "https://h/f", job: JobID("job_1"), at: Sample.now)
        }
        let name = String(repeating: "n", count: 251) + ".bin"
        #expect(try filled(name) == name)
        #expect(try filled("{suggested_filename}").utf8.count == 240)
        #expect(try filled("\(String(repeating: "n", count: 230))-{suggested_filename}").utf8.count == 255)
    }

    @Test(arguments: ["a}", "{a", "{unknown}", "", "a/{job_id}", ".{job_id}"])
    func explainsUnusableTemplate(_ text: String) {
        #expect(FilenameTemplate(text) == nil)
        #expect(FilenameTemplate.fault(in: text)?.isEmpty == false)
    }

    @Test func truncatesNameOfOneCharacterWithManyMarks() {
        let name = "a" + String(repeating: "\u{301}", count: 300) + ".txt"
        let safe = SuggestedFilename.from(
            contentDisposition: nil,
            url: "https://h/" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
        #expect(safe.utf8.count <= 240)
        #expect(safe.unicodeScalars.first == "a")
        #expect(safe.hasSuffix(".txt"))
    }

    @Test func numbersNamesBeforeExtension() {
        #expect(FilePathRule.numbered("a.txt", 1) == "a (1).txt")
        #expect(FilePathRule.numbered("archive.tar.gz", 2) == "archive.tar (2).gz")
        #expect(FilePathRule.numbered("noending", 3) == "noending (3)")
        #expect(FilePathRule.numbered(String(repeating: "x", count: 255), 1).utf8.count == 255)
    }
}
