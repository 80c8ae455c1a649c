import Testing

@testable import Downloads

/// Names from servers are made safe, names from clients are judged.
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
    ])
    func contentDisposition(_ header: String, _ name: String) {
        #expect(SuggestedFilename.from(contentDisposition: header, url: "https://host/other") == name)
    }

    @Test(arguments: [
        ("https://host/a/b.bin?sig=1", "b.bin"), ("https://host/a%20b.txt", "a b.txt"), ("https://host/", "download"),
        ("https://host", "download"), ("https://host/a%2Fb", "b"), ("https://host/..", "download"),
    ])
    func lastComponentOfTheURL(_ url: String, _ name: String) {
        #expect(SuggestedFilename.from(contentDisposition: nil, url: url) == name)
    }

    @Test func anUnusableHeaderFallsBackToTheURL() {
        #expect(SuggestedFilename.from(contentDisposition: "attachment; filename=\"..\"", url: "https://h/f") == "f")
        #expect(SuggestedFilename.from(contentDisposition: "attachment", url: "https://h/f") == "f")
    }

    @Test func longNamesKeepTheirEnding() {
        let name = SuggestedFilename.from(
            contentDisposition: nil, url: "https://h/" + String(repeating: "é", count: 300) + ".tar")
        #expect(name.utf8.count <= 240)
        #expect(name.hasSuffix(".tar"))
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "a\\b", "a\0b", "tab\tname", "x.part", "nul", "LPT1.txt", "end.", " lead",
        "trail ", "rtl\u{202E}", String(repeating: "x", count: 256),
    ])
    func unsafeNamesAreRefused(_ name: String) {
        #expect(FilePathRule.fault(inFilename: name) != nil)
    }

    @Test(arguments: ["a", "video (1).mp4", "naïve.txt", "a..b", "日本語.bin", String(repeating: "x", count: 255)])
    func safeNamesAreTaken(_ name: String) {
        #expect(FilePathRule.fault(inFilename: name) == nil)
    }

    @Test(arguments: ["/abs", "a//b", "a/", "../x", "a/../b", ".incomplete", "a/./b"])
    func unsafeDirectoriesAreRefused(_ path: String) {
        #expect(FilePathRule.fault(inDirectory: path) != nil)
    }

    @Test func numberedNames() {
        #expect(FilePathRule.numbered("a.txt", 1) == "a (1).txt")
        #expect(FilePathRule.numbered("archive.tar.gz", 2) == "archive.tar (2).gz")
        #expect(FilePathRule.numbered("noending", 3) == "noending (3)")
        #expect(FilePathRule.numbered(String(repeating: "x", count: 255), 1).utf8.count == 255)
    }
}
