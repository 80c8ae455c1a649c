import Testing

@testable import fetchd

/// Where the program is that begins again.
@Suite struct RestartTests {
    @Test(arguments: [
        ("/usr/bin/fetchd", "/usr/bin/fetchd"), ("/usr/bin/fetchd (deleted)", "/usr/bin/fetchd"),
        ("/opt/a (deleted)/fetchd", "/opt/a (deleted)/fetchd"),
    ])
    func findsTheProgramAfterAnUpgrade(_ link: String, _ path: String) { #expect(Restart.path(from: link) == path) }
}
