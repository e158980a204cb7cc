"""An nginx of a test's own: it stays in the foreground, and keeps all its files in one folder."""

from . import programs


def http(folder, body):
    """An http block with this in it."""
    temporary = "\n".join(f"    {name}_temp_path {folder}/{name};"
                          for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"http {{\n    access_log off;\n{temporary}\n{body}\n}}\n"


def command(folder, blocks, modules=""):
    """Writes the configuration that has these blocks; gives the command that runs it."""
    config = folder / "nginx.conf"
    config.write_text(f"daemon off;\nmaster_process off;\nerror_log stderr;\n"
                      f"pid {folder}/nginx.pid;\n{modules}\n"
                      f"events {{ worker_connections 256; }}\n{blocks}")
    return [programs.find("nginx", "nginx-light"), "-p", folder, "-c", config, "-e", "stderr"]
