import Formats
import Testing

@testable import Configuration

/// The table of settings, from which options, variables, file, API and help follow.
@Suite struct SettingTests {
    /// The help shows the default, and a client can return to it.
    @Test(arguments: Setting.all.map(\.name.rawValue)) func takesItsDefault(_ name: String) throws {
        let setting = try #require(Setting[SettingName(rawValue: name)])
        var settings = Settings()
        let value = setting.value(in: settings)
        if value != .null { try setting.set(value, in: &settings) }
        #expect(setting.value(in: settings) == value)
        #expect(!setting.defaultText.isEmpty && !setting.meaning.isEmpty && setting.meaning.hasSuffix("."))
    }

    @Test func onlyTheTokenHasNoOption() {
        let (all, options) = (Setting.all.map(\.name), Setting.options.map(\.name))
        #expect(Set(all).count == all.count && Set(options).count == options.count)
        #expect(Set(all).subtracting(options) == [.token])
        #expect(Setting.options.allSatisfy { $0.valueName != nil || $0.kind == .flag })
    }

    @Test func refusedValueChangesNothing() {
        var settings = Settings()
        for setting in Setting.all {
            let value = setting.value(in: settings)
            #expect(throws: SettingFault.self, "\(setting.name.rawValue)") {
                try setting.set(.object(JSONObject()), in: &settings)
            }
            #expect(setting.value(in: settings) == value)
        }
    }

    @Test func secretsAreNotShown() throws {
        let shown: [(SettingName, JSON, JSON)] = [
            (.token, "s3cret", "(not shown)"), (.keyCommand, "pass show s3cret", "pass (arguments not shown)"),
            (.keyCommand, "pass", "pass"), (.store, "postgres://a:s3cret@b/c", "postgres://a@b:5432/c"),
            (.dataDir, "/d", "/d"),
        ]
        for (name, value, expected) in shown { #expect(Setting[name]?.shown(value) == expected) }
    }
}
