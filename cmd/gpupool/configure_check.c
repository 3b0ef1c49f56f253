/* SPDX-License-Identifier: Apache-2.0 */
/* gpupool configure --check: what is configured now, and what a Pod would get. */
#include "configure.h"

static const char *const cdi_texts[] = {
	[REPORT_CDI_IMPOSSIBLE] = "this version cannot",
	[REPORT_CDI_OFF] = "off",
	[REPORT_CDI_ON] = "on",
};
static const char *const selinux_texts[] = {
	[SELINUX_ABSENT] = "not in use",
	[SELINUX_PERMISSIVE] = "permissive",
	[SELINUX_ENFORCING] = "enforcing",
};

static void pod_sentence(const struct engine_report *report, const char *name, struct strbuf *to)
{
	const struct runtime_fact *fact = name ? runtime_facts_find(&report->facts, name) : NULL;

	if (fact && runtime_injects(fact->path))
		strbuf_addf(to, "its cards, through %s", fact->path);
	else if (report->cdi == REPORT_CDI_ON)
		strbuf_adds(to, "its cards where they are asked for as CDI devices, else none");
	else
		strbuf_adds(to, "no card");
}

static void print_pod(const struct engine_report *report, const char *handler)
{
	autostrbuf by_class = STRBUF_INIT(4096), standard = STRBUF_INIT(4096);

	pod_sentence(report, report->facts.default_name, &standard);
	print_text(stdout, "a Pod without a runtime class gets: %s\n", standard.data);
	pod_sentence(report, handler, &by_class);
	if (runtime_facts_find(&report->facts, handler))
		print_text(stdout, "a Pod with runtimeClassName %s gets: %s\n", handler,
			   by_class.data);
	else
		print_text(stdout,
			   "a Pod with runtimeClassName %s is refused: no runtime for \"%s\" is "
			   "configured; cure: gpupool configure\n",
			   handler, handler);
}

static void print_list(const char *title, const struct string_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		print_text(stdout, "%s: %s\n", title, list->items[i]);
}

static void print_report(const struct engine *engine, const struct engine_report *report,
			 const char *handler)
{
	configure_print_engine(engine);
	for (size_t i = 0; i < report->facts.count; i++)
		print_text(stdout, "runtime: %s, %s\n", report->facts.items[i].name,
			   report->facts.items[i].path ? report->facts.items[i].path
						       : "the engine's own program");
	print_text(stdout, "default runtime: %s\n",
		   report->facts.default_name ? report->facts.default_name
					      : "the engine's own choice");
	print_text(stdout, "CDI: %s\n", cdi_texts[report->cdi]);
	print_text(stdout, "SELinux: %s%s\n", selinux_texts[report->selinux],
		   report->selinux == SELINUX_ABSENT ? ""
		   : report->selinux_allows          ? ", containers may open device nodes"
						     : ", containers may not open device nodes");
	print_list("program", &report->programs);
	print_pod(report, handler);
	print_list("warning", &report->warnings);
	print_list("problem", &report->problems);
}

static int add_list(struct json_object *root, const char *key, const struct string_list *list)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < list->count; i++)
		if (json_append_string(array, list->items[i]) < 0) {
			json_object_put(array);
			return -1;
		}
	return json_add(root, key, array);
}

static int add_runtimes(struct json_object *root, const struct runtime_facts *facts)
{
	struct json_object *runtimes = json_object_new_object();

	for (size_t i = 0; i < facts->count; i++)
		if (json_add_string(runtimes, facts->items[i].name, facts->items[i].path) < 0) {
			json_object_put(runtimes);
			return -1;
		}
	return json_add(root, "runtimes", runtimes);
}

static int print_json_report(const struct engine *engine, const struct engine_report *report,
			     const char *handler)
{
	autojson *root = json_object_new_object();
	autostrbuf by_class = STRBUF_INIT(4096), standard = STRBUF_INIT(4096);
	struct error error = ERROR_INIT;

	pod_sentence(report, handler, &by_class);
	pod_sentence(report, report->facts.default_name, &standard);
	if (!root || configure_engine_json(engine, root) < 0 ||
	    add_runtimes(root, &report->facts) < 0 ||
	    json_add_string(root, "defaultRuntime", report->facts.default_name) < 0 ||
	    json_add_string(root, "cdi", cdi_texts[report->cdi]) < 0 ||
	    json_add_string(root, "selinux", selinux_texts[report->selinux]) < 0 ||
	    json_add_bool(root, "selinuxAllowsDevices", report->selinux_allows) < 0 ||
	    json_add_string(root, "podWithoutClass", standard.data) < 0 ||
	    json_add_string(root, "podWithClass",
			    runtime_facts_find(&report->facts, handler) ? by_class.data : NULL) <
		    0 ||
	    add_list(root, "programs", &report->programs) < 0 ||
	    add_list(root, "warnings", &report->warnings) < 0 ||
	    add_list(root, "problems", &report->problems) < 0) {
		error_no_memory(&error);
		return fail(EXIT_FAILED, &error);
	}
	return print_json(root);
}

int configure_check(const struct host *host, const struct engine *engine, const char *handler,
		    bool json)
{
	cleanup(engine_report_release) struct engine_report report = { .cdi = REPORT_CDI_OFF };
	struct error error = ERROR_INIT;
	int r = engine_report_make(host, engine, &report, &error);

	if (r < 0)
		return fail(r == -EACCES ? EXIT_RIGHTS : EXIT_FAILED, &error);
	if (json)
		print_json_report(engine, &report, handler);
	else
		print_report(engine, &report, handler);
	return report.problems.count ? EXIT_FAILED : EXIT_DONE;
}
